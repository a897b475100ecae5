package baton.lincheck.world

import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [RateLimiter] with a token bucket of [RATE_BURST], of which a tick brings one. */
internal class RateLimiterSequential {
    private class Request(val permits: Int, val caller: CancellableContinuation<Boolean>)

    private var tokens = RATE_BURST
    private var closed = false
    private val queue = ArrayList<Request>()

    fun availablePermits() = tokens.toLong()

    fun waiting() = queue.size

    fun tick(n: Int) {
        repeat(n) {
            tokens = minOf(tokens + 1, RATE_BURST)
            admit()
        }
    }

    fun tryAcquire(n: Int): Boolean {
        if (closed) throw RateLimiterClosedException("")
        if (queue.isNotEmpty() || tokens < n) return false
        tokens -= n
        return true
    }

    @Suppress("UNUSED_PARAMETER")
    suspend fun acquire(thread: Int, n: Int) {
        if (tryAcquire(n)) return
        suspendCancellableCoroutine { caller ->
            val request = Request(n, caller)
            queue += request
            caller.invokeOnCancellation {
                queue -= request
                admit()
            }
        }
    }

    /** The timer of the head makes the limiter read its clock, and changes nothing else. */
    @Suppress("UNUSED_PARAMETER") fun timerFires(thread: Int) = Unit

    fun close() {
        closed = true
        for (request in queue) request.caller.resumeWithException(RateLimiterClosedException(""))
        queue.clear()
    }

    private fun admit() {
        while (queue.isNotEmpty() && queue.first().permits <= tokens) {
            val request = queue.removeFirst()
            tokens -= request.permits
            request.caller.letIn {
                tokens = minOf(tokens + request.permits, RATE_BURST)
                admit()
            }
        }
    }

    override fun equals(other: Any?) =
        other is RateLimiterSequential &&
            tokens == other.tokens &&
            closed == other.closed &&
            queue.map { it.permits } == other.queue.map { it.permits }

    override fun hashCode() = tokens + 31 * queue.size
}

internal const val RATE_BURST = 3
