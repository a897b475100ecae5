package baton.lincheck.world

import baton.sync.core.PoolCore
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [PoolCore] with three permits, none of which is there at first. */
internal class PoolSequential {
    private class Request(val weight: Int, val caller: CancellableContinuation<Boolean>)

    private var permits = 3
    private var free = 0
    private val line = ArrayList<Request>()

    fun demand() = line.firstOrNull()?.weight ?: 0

    fun tryAcquire(n: Int): Boolean {
        require(n <= permits)
        if (line.isNotEmpty() || n > free) return false
        free -= n
        return true
    }

    suspend fun acquire(n: Int) {
        if (tryAcquire(n)) return
        suspendCancellableCoroutine<Boolean> { caller ->
            val request = Request(n, caller)
            line += request
            caller.invokeOnCancellation {
                line -= request
                admit()
            }
        }
    }

    fun bring(n: Int) {
        free += minOf(n, permits - free)
        admit()
    }

    fun withdraw(): Int = free.also { free = 0 }

    fun resize(n: Int): Int {
        val taken = maxOf(free - n, 0)
        free -= taken
        permits = n
        for (request in line.filter { it.weight > n }) {
            line -= request
            request.caller.resumeWithException(IllegalArgumentException())
        }
        admit()
        return taken
    }

    private fun admit() {
        while (line.isNotEmpty() && line[0].weight <= free) {
            val request = line.removeAt(0)
            free -= request.weight
            request.caller.letIn { bring(request.weight) }
        }
    }

    override fun equals(other: Any?) = other is PoolSequential && "$this" == "$other"

    override fun hashCode() = "$this".hashCode()

    override fun toString() = "$permits $free ${line.map { it.weight }}"
}
