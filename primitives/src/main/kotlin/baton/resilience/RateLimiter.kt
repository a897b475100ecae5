package baton.resilience

import baton.BatonClock
import baton.CallGuard
import baton.PermitTimeoutException
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.resilience.limiter.RateLimiterCore
import baton.waiting.clock.BoundClock
import baton.waiting.clock.VirtualTime
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.isExplored
import baton.waiting.flight.FlightEvents
import baton.waiting.lookAtWaiters
import java.time.Duration as JavaDuration
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.toJavaDuration

/**
 * Bounds how often something happens: callers take permits, and only time brings permits back.
 *
 * ```
 * val limiter = RateLimiter.tokenBucket(10 per 1.seconds, burst = 20)
 * urls.forEach { url -> launch { limiter.withPermit { fetch(url) } } }
 * ```
 *
 * A [tokenBucket] begins full, with `burst` permits, and is refilled at its rate. A [leakyBucket] spaces its permits
 * evenly and never saves up more than one.
 *
 * Several rates at once, such as ten a second and a thousand an hour, are one limiter, made by [of]. A request gets its
 * permits of all rates in one step, or of none.
 *
 * *Bound.* In any window of the length w, at most `burst + rate × w` permits are granted. Of several rates each keeps
 * its own bound, in which the burst of all but the first is their number of permits. A leaky bucket has a burst of one
 * turn; a request for several permits is granted at the last of its turns. The arithmetic is exact, so the rate does
 * not drift. A clock that goes back counts as standing still: no permit comes until it has passed its latest reading.
 *
 * *Waiting.* [acquire] suspends until the permits are there; [tryAcquire] does not wait, or waits for a limited time. A
 * timer of whole milliseconds serves the waiters. It runs on the clock of the limiter or, if none was given, of the
 * dispatcher of the first waiter. So while no other call comes, a leaky bucket serves at most one waiter a millisecond.
 * If that dispatcher refuses the timer, as a dispatcher that was shut down does, a clock of the library's own replaces
 * it. But if it accepts the timer and drops it later, as an executor does at `shutdownNow`, the queue halts until the
 * next [acquire], [tryAcquire], [reserve], [update] or [availablePermits], or until a waiter is cancelled or times out.
 * Each of these serves the waiters whose permits have come by then; the next waiter gets a timer of its own.
 *
 * *Order.* First come, first served, for coroutines, reservations, and the futures and threads of the Java API alike. A
 * request for three permits at the head of the queue holds back all callers behind it, and newcomers too.
 *
 * *Cancellation.* Prompt. A waiter that is cancelled takes no permits, and the callers behind it move up at once. A
 * coroutine that is cancelled between its grant and its resumption puts the permits back, of which a leaky bucket keeps
 * one.
 *
 * *Memory.* It publishes nothing from one caller to another.
 *
 * *Misuse.* A request for fewer than 1 permit, or for more than the [burst] of a token bucket, throws
 * [IllegalArgumentException] at once. Permits are not given back: there is no release. To bound how much runs at the
 * same time use a `Semaphore` inside: `limiter.withPermit { semaphore.withPermit { … } }`.
 *
 * All members may be called from any thread.
 */
public class RateLimiter
internal constructor(
    rate: Rate,
    others: List<Rate>,
    burst: Long,
    private val isLeaky: Boolean,
    maxWaiting: Int,
    clock: BoundClock,
    private val named: Any?,
) : Monitored, CallGuard {
    @get:JvmSynthetic internal val core: RateLimiterCore

    init {
        requireBurst(burst)
        require(maxWaiting >= 0) { "maxWaiting = $maxWaiting, must be at least 0" }
        core = RateLimiterCore(rate, others, burst, isLeaky, maxWaiting, clock, this)
        if (named is String) listIfNamed(core) // Not one of many keys.
    }

    /** Shown by messages and [toString]. */
    public override val name: String?
        get() = named?.toString()

    /** How fast permits come; of several rates, the first. */
    public val rate: Rate
        get() = core.rate

    /** How many permits can be had at once: 1 for a leaky bucket, and of several rates what the least one allows. */
    public val burst: Long
        get() = core.burst

    /** How many permits are there, also while the first waiter needs more than that. Never negative. */
    public val availablePermits: Long
        get() = core.availablePermits

    /** How many callers wait. Reservations do not count. */
    public val waiting: Int
        get() = core.waiting

    /** How many permits were granted, how many requests were refused, and how long callers have waited. */
    public val metrics: RateLimiterMetrics
        get() = core.metrics

    /**
     * The permits of the [burst] that are not there, and the callers that wait; reservations do not count. The names
     * and the longest wait are those of callers among the first ten in the queue, in which reservations have a place.
     * In its totals `granted` and `refused` of [metrics].
     */
    override fun usage(): Usage {
        val look = core.lookAtWaiters()
        val burst = burst
        val metrics = metrics
        val totals = mapOf("granted" to metrics.granted, "refused" to metrics.refused)
        return look.toUsage(inUse = burst - availablePermits.coerceAtMost(burst), burst, totals)
    }

    /**
     * Takes [permits], and waits for them if necessary. From a leaky bucket it takes so many turns in a row, and
     * returns at the last one.
     *
     * *Cancellation.* Throws, and has taken nothing.
     *
     * @throws IllegalArgumentException if [permits] is below 1, or above the burst of a token bucket; also if [update]
     *   lowers the burst below [permits] while the caller waits.
     * @throws RateLimitedException if as many callers wait as may wait.
     * @throws RateLimiterClosedException if the limiter is closed, before the call or while the caller waits.
     */
    public suspend fun acquire(permits: Int = 1) {
        requirePermits(permits)
        if (VirtualTime.isPossible) core.clock.bind(coroutineContext, core)
        if (isExplored() || !core.tryTake(permits, isLast = false)) awaitGrant(core, permits)
    }

    /**
     * Takes [permits] if that needs no waiting. It does not overtake waiting callers.
     *
     * @throws IllegalArgumentException as [acquire].
     * @throws RateLimiterClosedException if the limiter is closed.
     */
    public fun tryAcquire(permits: Int = 1): Boolean = tryTake(permits, isLast = true)

    /** @param isLast whether the request is over, and refused, if this returns false. */
    @JvmSynthetic
    internal fun tryTake(permits: Int, isLast: Boolean): Boolean {
        requirePermits(permits)
        core.clock.requireKnown(core)
        return core.tryTake(permits, isLast)
    }

    /**
     * Takes [permits], and waits [timeout] at most, by the clock of the limiter or, if it has none, of the caller's
     * dispatcher. If the permits cannot be there in that time, given the rate and the callers before this one, it
     * returns false at once; with several rates, and callers before this one, it may find that only when the time is
     * over. A caller that gets false has taken nothing. With zero or less it does not wait.
     *
     * *Cancellation.* As [acquire], and so are the exceptions.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): Boolean {
        requirePermits(permits)
        if (VirtualTime.isPossible) core.clock.bind(coroutineContext, core)
        val waits = timeout > Duration.ZERO
        if (!isExplored(timeout) && core.tryTake(permits, isLast = !waits)) return true
        if (!waits || !core.canHaveWithin(permits, timeout)) return false
        return awaitGrant(core, permits, timeout = timeout)
    }

    /**
     * Runs [block] once a permit was taken, which is not given back.
     *
     * @throws PermitTimeoutException if the permit cannot be there within [maxWait]. It names the time after which it
     *   is there, `retryIn`. Otherwise throws as [acquire].
     */
    override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
        if (maxWait == Duration.INFINITE) acquire() else acquireWithin(maxWait)
        return block()
    }

    /** As [acquire], or throws [PermitTimeoutException]. Inlined bodies call it: it stays in their bytecode. */
    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquireWithin(timeout: Duration) {
        if (!tryAcquire(1, timeout)) throw FlightEvents.late("no permit within $timeout from ", this, retryIn(1))
    }

    /**
     * The time after which a call that does not wait gets [permits], if no other comes before it. Null for several of a
     * leaky bucket, which saves only one.
     */
    @JvmSynthetic
    internal fun retryIn(permits: Int): JavaDuration? =
        if (isLeaky && permits > 1) null else core.nanosUntilTurn(permits).nanoseconds.toJavaDuration()

    /**
     * Takes a place in the queue, behind all waiting callers, and returns at once. The permits may be used after
     * [RateReservation.delay].
     *
     * @throws IllegalArgumentException as [acquire].
     * @throws RateLimiterClosedException if the limiter is closed. Reservations that were made before stay.
     */
    public fun reserve(permits: Int = 1): RateReservation {
        requirePermits(permits)
        core.clock.requireKnown(core)
        val reservation = RateReservation(core, permits)
        core.reserve(reservation.place)
        return reservation
    }

    /**
     * As [reserve], but only if the permits may be used within [maxWait], as things stand; else returns null, and has
     * taken nothing. With zero or less, only if they may be used now. With several rates it costs O(callers before it).
     *
     * @throws IllegalArgumentException as [acquire].
     * @throws RateLimiterClosedException if the limiter is closed.
     */
    public fun tryReserve(permits: Int = 1, maxWait: Duration): RateReservation? {
        requirePermits(permits)
        core.clock.requireKnown(core)
        val reservation = RateReservation(core, permits)
        return if (core.reserve(reservation.place, maxWait.coerceAtLeast(Duration.ZERO))) reservation else null
    }

    /**
     * Changes the rate and the burst from now on; of several rates the first, and the others stay. The permits that are
     * there stay, up to the new burst; a leaky bucket ignores [burst]. A waiter that asks for more than the new burst
     * fails with [IllegalArgumentException]. Costs O(waiters).
     *
     * @throws IllegalArgumentException if [burst] is below 1.
     * @throws RateLimiterClosedException if the limiter is closed.
     */
    public fun update(rate: Rate, burst: Long = rate.permits) {
        requireBurst(burst)
        core.clock.requireKnown(core)
        if (!core.update(rate, burst)) throw core.closedException()
    }

    /**
     * Closes the limiter: all waiters, and all later requests, get a [RateLimiterClosedException] with this [cause]. A
     * second close changes nothing.
     */
    public fun close(cause: Throwable? = null) {
        core.close(cause)
    }

    private fun requirePermits(permits: Int) {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
    }

    private fun requireBurst(burst: Long) {
        require(burst >= 1) { "burst = $burst, must be at least 1" }
    }

    override fun toString(): String {
        val kind = if (isLeaky) "leaky" else "burst = $burst"
        val closed = if (core.isClosed) ", closed" else ""
        val rates = core.rates.joinToString(" and ")
        return "${core.label()} ($rates, $kind, available = $availablePermits, waiting = $waiting$closed)"
    }

    /** Makes rate limiters. */
    public companion object {
        /**
         * A limiter that allows bursts: up to [burst] unused permits are saved up.
         *
         * @param burst the most permits that can be had at once; at least 1.
         * @param maxWaiting how many callers may wait, at least 0; further ones get a [RateLimitedException] at once.
         *   Reservations do not count, and are never refused for it.
         * @param clock the clock by which permits come; by default that of the system, or of a test with virtual time:
         *   see [BatonClock].
         * @throws IllegalArgumentException if [burst] is below 1 or [maxWaiting] is below 0.
         */
        public fun tokenBucket(
            rate: Rate,
            burst: Long = rate.permits,
            maxWaiting: Int = Int.MAX_VALUE,
            clock: BatonClock? = null,
            name: String? = null,
        ): RateLimiter = RateLimiter(rate, emptyList(), burst, isLeaky = false, maxWaiting, BoundClock(clock), name)

        /**
         * A [tokenBucket] with several rates, each of which bounds the same permits.
         *
         * ```
         * val limiter = RateLimiter.of(Rate(10, 1.seconds), Rate(1_000, 1.hours), burst = 20)
         * ```
         *
         * It begins full. Up to [burst] permits are saved up for the first [rate], and for each of the [others] as many
         * as it brings in its time. So in the first hour, this one may grant up to 2,000: those that it had at first,
         * and those that came.
         *
         * @throws IllegalArgumentException if [burst] is below 1 or [maxWaiting] is below 0.
         */
        public fun of(
            rate: Rate,
            vararg others: Rate,
            burst: Long = rate.permits,
            maxWaiting: Int = Int.MAX_VALUE,
            clock: BatonClock? = null,
            name: String? = null,
        ): RateLimiter = RateLimiter(rate, others.toList(), burst, isLeaky = false, maxWaiting, BoundClock(clock), name)

        /**
         * A limiter whose permits are evenly spaced; one unused permit at most is saved. As [tokenBucket] otherwise.
         */
        public fun leakyBucket(
            rate: Rate,
            maxWaiting: Int = Int.MAX_VALUE,
            clock: BatonClock? = null,
            name: String? = null,
        ): RateLimiter = RateLimiter(rate, emptyList(), burst = 1, isLeaky = true, maxWaiting, BoundClock(clock), name)
    }
}

/** Runs [action] once a permit was taken, which is not given back. Throws as [RateLimiter.acquire]. */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> RateLimiter.withPermit(action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    acquire()
    return action()
}

/**
 * As [withPermit] without a timeout, but waits [timeout] at most for the permit, as [RateLimiter.tryAcquire] does: if
 * the permit cannot be there in that time it throws at once. The [action] may take as long as it takes.
 *
 * @throws PermitTimeoutException if the permit was not granted in time; [action] has not run. Its `retryIn` is the time
 *   after which the permit is there, if no other caller takes it.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> RateLimiter.withPermit(timeout: Duration, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    acquireWithin(timeout)
    return action()
}
