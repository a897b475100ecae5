package baton.lincheck.world

import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Sequential specification of a [RateLimiter] with three rates. It counts half tokens: a second brings two of the first
 * rate, one of the second, two of the third.
 */
@Suppress("UNUSED_PARAMETER") // Of operations that have one for the real limiter.
internal class SeveralRatesSequential {
    /** A waiter, or a reservation, which has no caller. */
    private class Request(val permits: Int, val caller: CancellableContinuation<Boolean>?) {
        override fun toString() = "$permits ${caller != null}"
    }

    private val brings = intArrayOf(2, 1, 2)
    private val caps = intArrayOf(2 * RATE_BURST, 8, 4)
    private val halves = caps.clone()
    private var granted = 0L
    private var closed = false
    private val queue = ArrayList<Request>()
    private val reservations = arrayOfNulls<Request>(THREADS)

    /** Those of a reservation count once no waiter is before it. */
    fun granted() = granted + queue.takeWhile { it.caller == null }.sumOf { it.permits }

    private fun has(n: Int, halves: IntArray = this.halves) = halves.all { it >= 2 * n }

    private fun change(n: Int, halves: IntArray = this.halves) {
        for (i in halves.indices) halves[i] = minOf(halves[i] + 2 * n, caps[i])
    }

    private fun second(halves: IntArray = this.halves) {
        for (i in halves.indices) halves[i] = minOf(halves[i] + brings[i], caps[i])
    }

    /** Reservations at the head get their tokens when their time comes, waiters when the limiter reads its clock. */
    fun tick(n: Int) {
        repeat(n) {
            second()
            settle { it.caller == null }
        }
        settle()
    }

    private fun check(n: Int) {
        if (closed) throw RateLimiterClosedException("")
        require(n <= 2)
    }

    fun tryAcquire(n: Int): Boolean {
        check(n)
        if (queue.isNotEmpty() || !has(n)) return false
        change(-n)
        granted += n
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

    fun tryReserve(thread: Int, n: Int): Boolean {
        check(n)
        val ahead = halves.clone()
        var seconds = 0
        for (request in queue.map { it.permits } + n) {
            while (!has(request, ahead)) {
                second(ahead)
                seconds++
            }
            change(-request, ahead)
        }
        if (seconds <= 3) reserve(thread, n)
        return seconds <= 3
    }

    fun cancelReservation(thread: Int): Boolean {
        val isOpen = queue.remove(reservations[thread] ?: return false)
        if (isOpen) settle()
        return isOpen
    }

    fun close() {
        closed = true
        val waiters = queue.filter { it.caller != null }
        queue -= waiters.toSet()
        for (waiter in waiters) waiter.caller!!.resumeWithException(RateLimiterClosedException(""))
        settle()
    }

    private fun settle(mayServe: (Request) -> Boolean = { true }) {
        while (queue.isNotEmpty() && has(queue[0].permits) && mayServe(queue[0])) {
            val request = queue.removeFirst()
            change(-request.permits)
            granted += request.permits
            request.caller?.letIn {
                change(request.permits)
                granted -= request.permits
                settle()
            }
        }
    }

    override fun equals(other: Any?) = other is SeveralRatesSequential && "$this" == "$other"

    override fun hashCode() = halves.contentHashCode() + 31 * queue.size

    override fun toString(): String {
        val open = reservations.map { if (it in queue) it else null }
        return "${halves.toList()} $granted $closed $queue $open"
    }
}
