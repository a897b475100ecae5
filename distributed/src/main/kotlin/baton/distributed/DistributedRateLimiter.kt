package baton.distributed

import baton.CallGuard
import baton.PermitTimeoutException
import baton.distributed.locks.LimitClient
import baton.distributed.locks.requireStore
import baton.distributed.rules.LimitState.Limit
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.resilience.Rate
import baton.resilience.RateLimiterClosedException
import baton.sync.SemaphoreClosedException
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.toJavaDuration

/**
 * A token bucket that all members of a [Cluster] share. Its calls are those of a [baton.resilience.RateLimiter].
 *
 * ```
 * val limiter = cluster.rateLimiter("api", 100 per 1.seconds, burst = 20)
 * urls.forEach { url -> launch { limiter.withPermit { fetch(url) } } }
 * ```
 *
 * A member borrows permits in blocks, as many as it has used in a tenth of a second, and at most its share of the
 * burst. So most calls need no trip to the store. Borrowed permits that are not used go back within two heartbeats.
 *
 * *Bound.* In any window of the length w, by the clock of the store, all members together grant `burst + rate × w`
 * permits at most: borrowed ones count until their use is written. The permits that a dead member has borrowed are
 * lost, as are those whose return the store may have missed; they are never granted twice. A store that has lost the
 * document begins with an empty bucket after a lease, unless it has lost the names of the locks, too.
 *
 * *Clock.* Only the clock of the store counts. If it is turned back, no permit comes for one lease, or until it passes
 * its former reading. If it jumps ahead, the permits of that time come at once, up to the burst.
 *
 * *Waiting.* The members wait in one queue, and write the document when their permits have come. While more callers
 * wait, a member waits for the block of a tenth of a second.
 *
 * *Order.* First come, first served among the callers of a JVM, and among the JVMs; of those a JVM gets a block at a
 * time. But a permit that a member has borrowed is for its own callers, before all others.
 *
 * *Cancellation.* Prompt, and takes nothing.
 *
 * *Loss.* A member that was stopped or cut off from the store for seven eighths of a lease has no permits any more, and
 * grants again once it has joined anew. There is no lease of a permit: it is used at the moment of the grant.
 *
 * *Memory.* It publishes nothing from one caller to another.
 *
 * *Misuse.* A request for fewer than 1 permit or for more than the [burst] throws [IllegalArgumentException]. After the
 * cluster was closed all calls throw [RateLimiterClosedException]. All members may be called from any thread.
 */
public class DistributedRateLimiter internal constructor(private val client: LimitClient) : Monitored, CallGuard {
    private val refused = AtomicLong()

    public override val name: String
        get() = client.name

    /** How fast permits come for all members together, as this one knows it. */
    public val rate: Rate
        get() = client.limit.let { Rate(it.permits, it.nanos.nanoseconds) }

    /** How many permits can be had at once. */
    public val burst: Long
        get() = client.limit.burst.toLong()

    /** How many callers of this JVM wait. */
    public val waiting: Int
        get() = client.pool.waiting

    /**
     * The permits of the [burst] that are not there, as this member has seen it last, and the callers that wait here.
     */
    override fun usage(): Usage = client.usage(mapOf("granted" to client.granted, "refused" to refused.get()))

    /**
     * Takes [permits], and waits for them if necessary.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above the [burst].
     */
    public suspend fun acquire(permits: Int = 1) {
        unlessClosed { client.acquire(permits) }
    }

    /** Takes [permits] if that needs no waiting for time to pass, after at most one look into the store. */
    public suspend fun tryAcquire(permits: Int = 1): Boolean = counted { client.acquireNow(permits) }

    /**
     * Takes [permits], and waits [timeout] at most; false if they are not there in time, and then has taken nothing. If
     * the store is away then, throws [StoreUnavailableException]. With zero or less, as [tryAcquire] without a timeout.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): Boolean = counted {
        client.acquireWithin(permits, timeout).also { if (!it) client.requireStore(timeout) }
    }

    /** Runs [block] once a permit was taken, which is not given back. */
    public suspend fun <T> withPermit(block: suspend () -> T): T {
        acquire()
        return block()
    }

    /**
     * As [withPermit], but waits [timeout] at most.
     *
     * @throws PermitTimeoutException if the permit was not there in time; [block] has not run. Its `retryIn` is the
     *   time after which the permit is there, as this member knows it.
     */
    public suspend fun <T> withPermit(timeout: Duration, block: suspend () -> T): T {
        acquireWithin(1, timeout)
        return block()
    }

    @JvmSynthetic
    internal suspend fun acquireWithin(permits: Int, timeout: Duration) {
        if (tryAcquire(permits, timeout)) return
        val retryIn = client.nanosUntil(permits).nanoseconds.toJavaDuration()
        val what = if (permits == 1) "permit" else "$permits permits"
        throw PermitTimeoutException("no $what within $timeout from $this", retryIn)
    }

    /** As [withPermit], for a [baton.resilience.ResiliencePipeline]. */
    override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T =
        if (maxWait == Duration.INFINITE) withPermit(block) else withPermit(maxWait, block)

    /**
     * Changes the rate and the burst for all members, in the background. Permits that are there stay, up to the new
     * burst; waiters that ask for more than that fail with [IllegalArgumentException].
     *
     * @throws IllegalArgumentException if [burst] is below 1 or above 2147483647.
     */
    public fun update(rate: Rate, burst: Long = rate.permits) {
        client.change(limitOf(rate, burst))
    }

    override fun toString(): String = client.toString()

    private suspend inline fun counted(take: () -> Boolean): Boolean =
        unlessClosed(take).also { if (!it) refused.incrementAndGet() }

    private inline fun <T> unlessClosed(take: () -> T): T =
        try {
            take()
        } catch (e: SemaphoreClosedException) {
            throw RateLimiterClosedException("${client.label} is closed", e.cause)
        }

    internal companion object {
        fun limitOf(rate: Rate, burst: Long): Limit {
            require(burst in 1..Int.MAX_VALUE) { "burst = $burst, must be within 1..${Int.MAX_VALUE}" }
            return Limit(rate.permits, rate.per.inWholeNanoseconds, burst.toInt())
        }
    }
}
