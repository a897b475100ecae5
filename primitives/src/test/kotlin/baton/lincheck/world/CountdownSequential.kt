package baton.lincheck.world

import baton.sync.Latch
import baton.sync.WaitGroup
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [Latch] or a [WaitGroup]. */
internal open class CountdownSequential(private var count: Int) {
    private val line = ArrayList<CancellableContinuation<Unit>>()

    fun count() = count

    fun waiting() = line.size

    suspend fun await() {
        if (count == 0) return
        suspendCancellableCoroutine { caller ->
            line += caller
            caller.invokeOnCancellation { line -= caller }
        }
    }

    protected fun up(n: Int) {
        check(n <= Int.MAX_VALUE - count)
        count += n
    }

    protected fun down() {
        if (--count > 0) return
        val released = line.toList()
        line.clear()
        released.forEach { it.resume(Unit) { _, _, _ -> } }
    }

    override fun equals(other: Any?) =
        other is CountdownSequential && count == other.count && line.size == other.line.size

    override fun hashCode() = count
}

internal class LatchSequential : CountdownSequential(LATCH_COUNT) {
    fun countDown() {
        if (count() > 0) down()
    }
}

internal class WaitGroupSequential : CountdownSequential(0) {
    fun add(n: Int) = up(n)

    fun done() {
        check(count() > 0)
        down()
    }
}

internal const val LATCH_COUNT = 3
