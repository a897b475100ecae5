package baton.resilience.limiter

import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/*
 * The queue of a RateLimiterCore, and the account of its tokens:
 *
 *   bucket     the tokens that are there, less those taken in advance by reservations: negative while that is a debt
 *   queue      waiters, and reservations that came after a waiter
 *   advanced   reservations that have taken their tokens and whose time has not come
 *   granted    the tokens that callers have got, those of reservations in `advanced` included
 *   waited     the time that all waiters together have waited, until the time of the bucket
 *
 * With all decisions at rest:
 *
 * (1) The head of the queue is a waiter, and the bucket holds less than it asks for. All callers behind it wait for it,
 *     so no caller overtakes.
 * (2) The time of the first of `advanced` has not come: the tokens in the bucket, and those that the reservations after
 *     it took, are below zero in sum. The time of a later one comes no earlier. Once the time of a reservation has come
 *     that stays true, because tokens are granted only while there is no debt. So an operation may find it late.
 * (3) demand is the sum of the requests in the queue, advance that of `advanced`.
 *     With several rates it must not be found late, see TokenBuckets: refill() stops at each such time.
 * (4) A token bucket holds `burst` tokens at most. A leaky bucket holds as many as its head asks for, because the turns
 *     of a waiter that asks for several pass while it waits; without a waiter it holds one.
 *
 * A ReservedPlace is a waiter that is never granted and never resumed: it only stands in one of the queues.
 *
 * All of it is guarded by the lock of the core.
 */
internal class RateQueue(
    private val core: RateLimiterCore,
    private val bucket: Tokens,
    private val isLeaky: Boolean,
    burst: Long,
) {
    private val queue = FifoWaitQueue()
    private val advanced = FifoWaitQueue()
    private var demand = 0L
    private var advance = 0L
    private var places = 0
    var granted = 0L
        private set

    /** A number of times and callers, which no Long of nanoseconds would hold. */
    var waited = Duration.ZERO
        private set

    /** The most tokens that are ever granted in one moment; 1 for a leaky bucket. */
    var burst = bucket.mostWith(burst)
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

    /** Adds the tokens of the time until [now]. */
    fun refill(now: Long) {
        if (!isEmpty && now > bucket.time) waited += (now - bucket.time).nanoseconds * waiting
        if (bucket is TokenBuckets) stopAtReservations(bucket, now)
        bucket.refill(now)
    }

    private fun stopAtReservations(bucket: TokenBuckets, now: Long) {
        while (true) {
            val first = advanced.head() as ReservedPlace? ?: return
            val dueAt = bucket.timeOfNext(first.number)
            if (dueAt > now) return
            bucket.refill(dueAt)
            arrive(first)
        }
    }

    /** Takes [permits] for a newcomer, if there are so many and no caller waits. */
    fun take(permits: Int): Boolean {
        if (!isEmpty || bucket.whole < permits) return false
        bucket.take(permits)
        granted += permits
        return true
    }

    /** Puts back what a waiter was granted that cannot take it. */
    fun putBack(permits: Int) {
        bucket.putBack(permits)
        granted -= permits
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
                granted += head.number
                core.wake(head)
            }
        }
    }

    /** For a token bucket. */
    fun changeBurst(newBurst: Long) {
        burst = bucket.mostWith(newBurst)
        bucket.changeCap(newBurst)
    }

    fun contains(waiter: Waiter): Boolean = queue.contains(waiter)

    fun reserve(place: ReservedPlace) {
        if (isEmpty) takeInAdvance(place) else add(place)
    }

    private fun takeInAdvance(place: ReservedPlace) {
        granted += place.number
        if (bucket.takeInAdvance(place.number)) return
        place.isAdvanced = true
        advanced.add(place)
        advance += place.number
    }

    /** Invariant (2). */
    private fun forgetDue() {
        while (true) {
            val first = advanced.head() as ReservedPlace? ?: return
            if (!bucket.isDue(first.number, advance)) return
            arrive(first)
        }
    }

    private fun arrive(place: ReservedPlace) {
        leaveAdvanced(place)
        bucket.settleAdvance(place.number)
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
                bucket.putBackAdvance(place.number)
                granted -= place.number
            }
            place.queue != null -> remove(place)
            else -> return false
        }
        return true
    }

    /**
     * The time until that of [place] comes. The queue is settled. Costs O(callers behind it); with several rates,
     * O(callers before it).
     */
    fun nanosUntil(place: ReservedPlace): Long {
        if (bucket is TokenBuckets) return if (place.queue == null) 0 else nanosUntil(place, bucket.ahead())
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

    /** Serves all callers with [ahead] until it has served [last]. */
    private fun nanosUntil(last: ReservedPlace?, ahead: TokenBuckets): Long {
        serve(advanced, last, ahead)
        if (last == null || !last.isAdvanced) serve(queue, last, ahead)
        return ahead.time - bucket.time
    }

    private fun serve(callers: FifoWaitQueue, last: ReservedPlace?, ahead: TokenBuckets) {
        var caller = callers.head()
        while (caller != null) {
            ahead.takeNext(caller.number)
            caller = if (caller === last) null else caller.next
        }
    }

    /**
     * The time until a newcomer that asks for [permits] would have them; with several rates, the earliest, as if no
     * bucket became full while others hold up the callers before it.
     */
    fun nanosUntilTurn(permits: Int): Long = bucket.nanosUntil(demand + permits)

    /** Whether that time is at most [time]. Exact, and costs O(callers before it), with several rates. */
    fun isTurnWithin(permits: Int, time: Duration): Boolean {
        if (nanosUntilTurn(permits).nanoseconds > time) return false
        if (bucket !is TokenBuckets) return true
        val ahead = bucket.ahead()
        nanosUntil(last = null, ahead)
        ahead.takeNext(permits)
        return (ahead.time - bucket.time).nanoseconds <= time
    }

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
