package baton.lincheck.world

import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [RateLimiter] with a token bucket of [RATE_BURST], to which a tick brings one. */
@Suppress("UNUSED_PARAMETER") // Of operations that have one for the real limiter.
internal class RateLimiterSequential {
    /** A waiter, or a reservation, which has no caller. */
    private class Request(val permits: Int, val caller: CancellableContinuation<Boolean>?) {
        override fun toString() = "$permits ${caller != null}"
    }

    private var burst = RATE_BURST
    private var tokens = RATE_BURST
    private var closed = false
    private val queue = ArrayList<Request>()

    /** Reservations that have taken tokens before their time. */
    private val advanced = ArrayList<Request>()
    private val reservations = arrayOfNulls<Request>(THREADS)

    fun availablePermits() = maxOf(tokens, 0).toLong()

    fun waiting() = queue.count { it.caller != null }

    fun tick(n: Int) = bring(n)

    private fun bring(n: Int) {
        tokens = minOf(tokens + n, burst)
        settle()
    }

    private fun check(n: Int) {
        if (closed) throw RateLimiterClosedException("")
        require(n <= burst)
    }

    fun tryAcquire(n: Int): Boolean {
        check(n)
        if (queue.isNotEmpty() || tokens < n) return false
        tokens -= n
        return true
    }

    suspend fun acquire(thread: Int, n: Int) {
        if (tryAcquire(n)) return
        suspendCancellableCoroutine { caller ->
            val request = Request(n, caller)
            queue += request
            caller.invokeOnCancellation {
                queue -= request
                settle()
            }
        }
    }

    fun reserve(thread: Int, n: Int) {
        check(n)
        val reservation = Request(n, null)
        reservations[thread] = reservation
        queue += reservation
        settle()
    }

    fun cancelReservation(thread: Int): Boolean {
        val reservation = reservations[thread] ?: return false
        if (advanced.remove(reservation)) bring(reservation.permits)
        else if (queue.remove(reservation)) settle() else return false
        return true
    }

    fun update(n: Int) {
        check(1)
        burst = n
        tokens = minOf(tokens, n)
        fail(IllegalArgumentException()) { it.permits > n }
        settle()
    }

    fun close() {
        closed = true
        fail(RateLimiterClosedException("")) { true }
        settle()
    }

    private fun fail(failure: Exception, isMeant: (Request) -> Boolean) {
        val failed = queue.filter { it.caller != null && isMeant(it) }
        queue -= failed.toSet()
        for (request in failed) request.caller!!.resumeWithException(failure)
    }

    /** The timer of the head makes the limiter read its clock, and changes nothing else. */
    fun timerFires(thread: Int) = Unit

    private fun settle() {
        forgetDue()
        while (queue.isNotEmpty()) {
            val request = queue.first()
            val caller = request.caller
            if (caller != null && request.permits > tokens) return
            queue.removeFirst()
            tokens -= request.permits
            if (caller != null) caller.letIn { bring(request.permits) } else advanced += request
            forgetDue()
        }
    }

    private fun forgetDue() {
        while (advanced.isNotEmpty() && tokens + advanced.drop(1).sumOf { it.permits } >= 0) advanced.removeFirst()
    }

    override fun equals(other: Any?) = other is RateLimiterSequential && "$this" == "$other"

    override fun hashCode() = tokens + 31 * queue.size

    override fun toString(): String {
        val open = reservations.map { if (it in advanced || it in queue) it else null }
        return "$burst $tokens $closed $queue $advanced $open"
    }
}

internal const val RATE_BURST = 3
