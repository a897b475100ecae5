package baton.resilience.limiter

import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter

/*
 * The queue of a RateLimiterCore, and the account of its tokens:
 *
 *   bucket     the tokens that are there, less those taken in advance by reservations: negative while that is a debt
 *   queue      waiters, and reservations that came after a waiter
 *   advanced   reservations that have taken their tokens and whose time has not come
 *
 * With all decisions at rest:
 *
 * (1) The head of the queue is a waiter, and the bucket holds less than it asks for. All callers behind it wait for it,
 *     so no caller overtakes.
 * (2) The time of the first of `advanced` has not come: the tokens in the bucket, and those that the reservations after
 *     it took, are below zero in sum. The time of a later one comes no earlier. Once the time of a reservation has come
 *     that stays true, because tokens are granted only while there is no debt. So an operation may find it late.
 * (3) demand is the sum of the requests in the queue, advance that of `advanced`.
 * (4) A token bucket holds `burst` tokens at most. A leaky bucket holds as many as its head asks for, because the turns
 *     of a waiter that asks for several pass while it waits; without a waiter it holds one.
 *
 * A ReservedPlace is a waiter that is never granted and never resumed: it only stands in one of the queues.
 *
 * All of it is guarded by the lock of the core.
 */
internal class RateQueue(
    private val core: RateLimiterCore,
    private val bucket: TokenBucket,
    private val isLeaky: Boolean,
    burst: Long,
) {
    private val queue = FifoWaitQueue()
    private val advanced = FifoWaitQueue()
    private var demand = 0L
    private var advance = 0L
    private var places = 0

    /** The most tokens that are ever granted in one moment; 1 for a leaky bucket. */
    var burst = burst
        private set

    /** How many callers wait; reservations do not. */
    val waiting: Int
        get() = queue.size - places

    val isEmpty: Boolean
        get() = queue.size == 0

    /** Whether [settle] has nothing to do, with any number of tokens. */
    val isAtRest: Boolean
        get() = isEmpty && advanced.size == 0

    val head: Waiter?
        get() = queue.head()

    /** Visits the waiters among the first [limit] in the queue, reservations not. */
    fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit) { if (it !is ReservedPlace) visit(it) }
    }

    /** Takes [permits] for a newcomer, if there are so many and no caller waits. */
    fun take(permits: Int): Boolean {
        if (!isEmpty || bucket.whole < permits) return false
        bucket.take(permits)
        return true
    }

    fun add(waiter: Waiter) {
        queue.add(waiter)
        demand += waiter.number
        if (waiter is ReservedPlace) places++
    }

    fun remove(waiter: Waiter) {
        queue.remove(waiter)
        demand -= waiter.number
        if (waiter is ReservedPlace) places--
    }

    /** Grants, and lets reservations take tokens in advance, for as long as invariant (1) asks for it. */
    fun settle() {
        forgetDue()
        while (true) {
            val head = queue.head()
            // Before a grant: turns that passed for a former head, which asked for more, are not saved up.
            if (isLeaky) bucket.changeCap(head?.number?.toLong() ?: 1L)
            if (head == null) break
            if (head is ReservedPlace) {
                remove(head)
                takeInAdvance(head)
            } else {
                if (bucket.whole < head.number) break
                remove(head)
                head.grantQueued()
                bucket.take(head.number)
                core.wake(head)
            }
        }
    }

    /** For a token bucket. */
    fun changeBurst(burst: Long) {
        this.burst = burst
        bucket.changeCap(burst)
    }

    fun contains(waiter: Waiter): Boolean = queue.contains(waiter)

    fun reserve(place: ReservedPlace) {
        if (isEmpty) takeInAdvance(place) else add(place)
    }

    private fun takeInAdvance(place: ReservedPlace) {
        bucket.take(place.number)
        if (bucket.whole >= 0) return
        place.isAdvanced = true
        advanced.add(place)
        advance += place.number
    }

    /** Invariant (2). */
    private fun forgetDue() {
        while (true) {
            val first = advanced.head() as ReservedPlace? ?: return
            if (bucket.whole + advance - first.number < 0) return
            leaveAdvanced(first)
        }
    }

    private fun leaveAdvanced(place: ReservedPlace) {
        advanced.remove(place)
        advance -= place.number
        place.isAdvanced = false
    }

    /** Gives up [place]; false if its time has come. The queue is settled. */
    fun cancel(place: ReservedPlace): Boolean {
        when {
            place.isAdvanced -> {
                leaveAdvanced(place)
                bucket.putBack(place.number)
            }
            place.queue != null -> remove(place)
            else -> return false
        }
        return true
    }

    /** The time until that of [place] comes. The queue is settled. Costs O(callers behind it). */
    fun nanosUntil(place: ReservedPlace): Long {
        var behind = 0L
        var other = place.next
        while (other != null) {
            behind += other.number
            other = other.next
        }
        return when {
            place.isAdvanced -> bucket.nanosUntil(-behind)
            place.queue != null -> bucket.nanosUntil(demand - behind)
            else -> 0
        }
    }

    /** The time until a newcomer that asks for [permits] would have them. */
    fun nanosUntilTurn(permits: Int): Long = bucket.nanosUntil(demand + permits)

    /** Fails the waiters that [fails] names. */
    inline fun failWaiters(reason: Any, crossinline fails: (Waiter) -> Boolean) {
        queue.forEach {
            if (it !is ReservedPlace && fails(it)) {
                remove(it)
                it.failQueued(reason)
                core.wake(it)
            }
        }
    }
}
