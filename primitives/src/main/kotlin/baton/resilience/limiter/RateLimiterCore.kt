package baton.resilience.limiter

import baton.monitoring.Monitored
import baton.resilience.Rate
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiterClosedException
import baton.resilience.RateLimiterMetrics
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.clock.BoundClock
import baton.waiting.flight.FlightEvents
import baton.waiting.labelOf
import baton.waiting.threads.requireStack
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/*
 * How it works
 *
 * A bucket is refilled by time. Callers take tokens from it, or stand in one queue and are granted by a timer. The lock
 * of WaitCore guards the pair of tokens and time. Every operation reads the clock first, because that is code of users,
 * and then in one decision
 *
 *   1. refills the bucket up to that reading (the latest reading counts: threads arrive here in another order than they
 *      read, and clocks go back),
 *   2. settles the queue: grants from its head for as long as the tokens suffice,
 *   3. does its own change, and settles the queue again,
 *   4. sets the timer of the new head.
 *
 * Each file keeps its own invariants. It calls the files above it in this table, and does not know those below:
 *
 *   Tokens            the arithmetic of tokens and time: a TokenBucket, or TokenBuckets of several rates
 *   RateQueue         the queue, reservations, the account of the tokens
 *   HeadTimer         the timer
 *   RateLimiterCore   the operations
 *
 * Bound. In any window w, at most burst + rate × w permits are granted: they are granted only while their tokens are in
 * the bucket, which never holds more than burst. With several rates that is true of each. The time of a grant is the reading by which it was decided. A
 * reservation counts from its due time. A grant that its caller could not take any more is put back and does not count.
 *
 * A decision that finds no memory or no stack left throws before it has changed anything, or after it has made its own
 * change as a whole. Its grants are woken in any case.
 *
 * A clock that throws fails the calls that take permits, before they have changed anything. For all others, which must
 * not fail halfway (a cancellation, a timer), it stands still.
 *
 * Sources: the token bucket is that of J. Turner, "New directions in communications" (1986); whole numbers instead of
 * floating point, and the latest of all readings instead of each caller's, are the lessons of golang/go #71360.
 */
internal class RateLimiterCore(
    rate: Rate,
    otherRates: List<Rate>,
    burst: Long,
    val isLeaky: Boolean,
    private val maxWaiting: Int,
    override val clock: BoundClock,
    private val limiter: Monitored,
) : WaitCore() {
    private val bucket: Tokens =
        if (otherRates.isEmpty()) TokenBucket(rate, burst) else TokenBuckets(listOf(rate) + otherRates, burst)
    private val queue = RateQueue(this, bucket, isLeaky, burst)
    private val timer = HeadTimer(this, bucket)

    /** Written under the lock. */
    @Volatile
    var rate = rate
        private set

    /** Written under the lock. */
    @Volatile private var closure: Closure? = null

    private class Closure(val cause: Throwable?)

    private class Refusal(val nanos: Long)

    /** The [rate], and those beside it, which do not change. */
    val rates: List<Rate>
        get() = listOf(rate) + if (bucket is TokenBuckets) bucket.rates.drop(1) else emptyList()

    /** How many requests were refused for want of permits, see RateLimiterMetrics. */
    private var refused = 0L

    val isClosed: Boolean
        get() = closure != null

    val waiting: Int
        get() = decide { queue.waiting }

    val burst: Long
        get() = decide { queue.burst }

    val availablePermits: Long
        get() = look { if (isLeaky && !queue.isEmpty) 0 else maxOf(bucket.whole, 0) }

    val metrics: RateLimiterMetrics
        get() = look { RateLimiterMetrics(queue.granted, refused, queue.waited) }

    /** The present moment in the time of the bucket, or before it if the clock throws. */
    fun readOrStandStill(): Long = clock.readOr(Long.MIN_VALUE)

    /** As [decide], between two settlements of the queue, the first with the tokens of [now]. */
    private inline fun <T> decideAt(now: Long, decision: () -> T): T = decide {
        prepare()
        queue.refill(now)
        queue.settle()
        try {
            decision()
        } finally {
            settle()
        }
    }

    /** As [decideAt] the present moment, for decisions that a clock that throws must not prevent. */
    inline fun <T> look(decision: () -> T): T = decideAt(readOrStandStill(), decision)

    /** Throws, if memory or stack does not suffice for the rest of the decision. */
    private fun prepare() {
        requireStack()
        timer.prepare()
    }

    private fun settle() {
        queue.settle()
        val head = queue.head
        timer.update(head, if (head == null) 0 else dueAt(head))
    }

    private fun dueAt(head: Waiter): Long =
        try {
            bucket.timeOf(head.number.toLong())
        } catch (_: OutOfMemoryError) {
            bucket.time // The grants of this decision are made. A timer that fires too early does no harm.
        }

    // ---- acquire

    /**
     * Takes [permits] if that needs no waiting. If the request [isLast], and is not followed by one that waits, it
     * counts.
     */
    fun tryTake(permits: Int, isLast: Boolean): Boolean {
        val now = clock.read()
        return tryTakeAtRest(permits, now) || tryTakeBehindOthers(permits, now, isLast)
    }

    /** Without a caller before this one there is nothing to settle and nothing to wake. */
    private fun tryTakeAtRest(permits: Int, now: Long): Boolean {
        var taken = false
        lock()
        try {
            if (closure == null && queue.isAtRest) {
                bucket.refill(now)
                taken = queue.take(permits)
            }
        } finally {
            unlockLazily()
        }
        return taken
    }

    private fun tryTakeBehindOthers(permits: Int, now: Long, isLast: Boolean): Boolean {
        var most = 0L
        val taken = decide {
            most = most()
            queue.refill(now)
            if (!queue.isAtRest) {
                prepare()
                settle()
            }
            val isPossible = closure == null && permits <= most
            (isPossible && queue.take(permits)).also { if (isPossible && isLast && !it) refused++ }
        }
        if (!taken) {
            closure?.let { throw closed(it) }
            if (permits > most) throw tooMany(permits, most)
        }
        return taken
    }

    private fun most() = if (isLeaky) Long.MAX_VALUE else queue.burst

    /**
     * Whether a newcomer could have [permits] after [time], if every caller before it takes its permits. Else it
     * counts.
     */
    fun canHaveWithin(permits: Int, time: Duration): Boolean =
        decideAt(clock.read()) { (queue.nanosUntilTurn(permits).nanoseconds <= time).also { if (!it) refused++ } }

    /** The time until a newcomer would have [permits], if every caller before it takes its permits. */
    fun nanosUntilTurn(permits: Int): Long = look { queue.nanosUntilTurn(permits) }

    /**
     * The time from [now] until all its tokens are there, if no call takes any. It grants and wakes no waiter, because
     * its caller holds a lock of all keys, under which no code of users may run. The timer grants the waiters.
     */
    fun nanosUntilFull(now: Long): Long {
        requireStack()
        return plainly {
            queue.refill(now)
            bucket.nanosUntilFull()
        }
    }

    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return look { enqueueUnderLock(waiter) }
    }

    override val queuedWaiters: Int
        get() = queue.waiting

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.visitWaiters(limit, visit)
    }

    private fun enqueueUnderLock(waiter: Waiter): Int {
        val permits = waiter.number
        val most = most()
        val refusal: Any? =
            when {
                closure != null -> closure
                permits > most -> most
                else -> null
            }
        if (refusal != null) return fail(waiter, refusal)
        if (queue.take(permits)) {
            if (!waiter.tryGrant()) queue.putBack(permits)
            return waiter.currentState
        }
        if (queue.waiting >= maxWaiting) {
            val refusal = Refusal(queue.nanosUntilTurn(permits))
            refused++
            return fail(waiter, refusal)
        }
        if (!waiter.startWaiting()) return waiter.currentState
        queue.add(waiter)
        countPeak(queue.waiting)
        return Waiter.WAITING
    }

    private fun fail(waiter: Waiter, reason: Any): Int =
        if (waiter.tryFail(reason)) Waiter.FAILED else waiter.currentState

    // ---- called by waiters

    override fun leaveQueue(waiter: Waiter, to: Int): Boolean {
        val now = readOrStandStill()
        return decide {
            prepare()
            queue.refill(now)
            // The tokens of a caller may have come at the very moment of its timeout: then it is granted.
            if (to == Waiter.TIMED_OUT) queue.settle()
            val leaves = leaveUnderLock(waiter, to)
            if (leaves && to == Waiter.TIMED_OUT) refused++
            settle()
            leaves
        }
    }

    override fun isQueued(waiter: Waiter): Boolean = queue.contains(waiter)

    override fun removeWithdrawn(waiter: Waiter) {
        queue.remove(waiter)
    }

    /** Refills first: the callers behind it need not wait for tokens that have come since the grant. */
    override fun giveBack(waiter: Waiter) {
        look { takeBack(waiter) }
    }

    override fun reclaim(waiter: Waiter): Wakeup? {
        val now = readOrStandStill()
        return underLock({
            prepare()
            queue.refill(now)
            if (waiter.tryReturn()) takeBack(waiter) else settle()
        }) { _, woken ->
            woken
        }
    }

    override fun takeBack(waiter: Waiter) {
        queue.putBack(waiter.number)
        settle()
    }

    // ---- reserve

    /** False if the time of [place] would not come within [maxWait]; then it counts as refused. */
    fun reserve(place: ReservedPlace, maxWait: Duration = Duration.INFINITE): Boolean {
        val permits = place.number
        var most = 0L
        var isOpen = false
        val isInTime =
            decideAt(clock.read()) {
                most = most()
                isOpen = closure == null
                if (!isOpen || permits > most) return@decideAt false
                val isInTime = maxWait.isInfinite() || queue.isTurnWithin(permits, maxWait)
                if (isInTime) queue.reserve(place) else refused++
                isInTime
            }
        if (!isOpen) throw closedException()
        if (permits > most) throw tooMany(permits, most)
        return isInTime
    }

    fun delayOf(place: ReservedPlace) = look { queue.nanosUntil(place) }.nanoseconds

    fun cancel(place: ReservedPlace): Boolean = look { queue.cancel(place) }

    // ---- update, close

    /** False when closed. */
    fun update(newRate: Rate, newBurst: Long): Boolean =
        decideAt(clock.read()) {
            if (closure != null) {
                false
            } else {
                bucket.changeRate(newRate)
                rate = newRate
                if (!isLeaky) {
                    // First: a waiter that asks for more than the burst would never be served.
                    val most = bucket.mostWith(newBurst)
                    queue.failWaiters(most) { it.number > most }
                    queue.changeBurst(newBurst)
                }
                true
            }
        }

    /** Fails newcomers and all waiters. A second close changes nothing. */
    fun close(cause: Throwable?) {
        look {
            if (closure == null) {
                val newClosure = Closure(cause)
                queue.failWaiters(newClosure) { true }
                closure = newClosure
            }
        }
    }

    override fun failure(waiter: Waiter): Throwable =
        when (val reason = waiter.outcome) {
            is Closure -> closed(reason)
            is Refusal -> {
                val retryIn = reason.nanos.nanoseconds
                val message = "$maxWaiting callers wait already for ${label()}, retry in $retryIn"
                FlightEvents.refused(label(), RateLimitedException(message, retryIn))
            }
            else -> tooMany(waiter.number, reason as Long)
        }

    private fun tooMany(permits: Int, most: Long) =
        IllegalArgumentException("permits = $permits, must be at most $most, the burst of ${label()}")

    fun closedException(): RateLimiterClosedException = closed(closure!!)

    private fun closed(closure: Closure): RateLimiterClosedException =
        FlightEvents.refused(label(), RateLimiterClosedException("${label()} is closed", closure.cause))

    override fun label(): String = labelOf("RateLimiter", limiter.name)

    override fun toString(): String = limiter.toString()

    override fun verbOf(waiter: Waiter): String = "acquire"
}
