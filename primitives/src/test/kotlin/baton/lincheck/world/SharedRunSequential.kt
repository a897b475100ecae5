package baton.lincheck.world

import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of the callers of one key of a `SingleFlight`, and of the end of their run. */
internal class SharedRunSequential {
    private val callers = ArrayList<CancellableContinuation<Int>>()

    suspend fun run(): Int = suspendCancellableCoroutine { caller ->
        callers += caller
        caller.invokeOnCancellation { callers -= caller }
    }

    fun finish(value: Int) {
        val released = callers.toList()
        callers.clear()
        released.forEach { it.resume(value) { _, _, _ -> } }
    }

    override fun equals(other: Any?) = other is SharedRunSequential && callers.size == other.callers.size

    override fun hashCode() = callers.size
}
