package baton.resilience.limiter

import baton.resilience.RateLimiter
import kotlin.time.Duration

/**
 * A rate limiter as a contract sees it, over any of the APIs.
 * - A caller that waits is a coroutine; cancelling it withdraws the request.
 * - A suspend function that throws has taken nothing, unless [putsBack] says otherwise.
 * - An exception of an API arrives as itself, not wrapped.
 */
interface RateLimiterFace {
    /** Whether the permits of a caller that is cancelled between its grant and its resumption are put back. */
    val putsBack: Boolean
        get() = true

    val waiting: Int

    suspend fun acquire(permits: Int = 1)

    fun tryAcquire(permits: Int = 1): Boolean

    /** In the virtual time of the calling coroutine; only the contract of timeouts calls it. */
    suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean

    fun close(cause: Throwable?)

    /** Runs [change], which may let callers go on, until they have gone as far as they can without their dispatcher. */
    fun <T> step(change: () -> T): T = change()
}

/** The API over a limiter. */
typealias RateLimiterFaceOf = (RateLimiter) -> RateLimiterFace

/** The suspend functions. */
class KotlinRateLimiterFace(private val limiter: RateLimiter) : RateLimiterFace {
    override val waiting: Int
        get() = limiter.waiting

    override suspend fun acquire(permits: Int) = limiter.acquire(permits)

    override fun tryAcquire(permits: Int) = limiter.tryAcquire(permits)

    override suspend fun tryAcquire(permits: Int, timeout: Duration) = limiter.tryAcquire(permits, timeout)

    override fun close(cause: Throwable?) = limiter.close(cause)
}

/** The APIs of one limiter alternate, in one queue. */
class MixedRateLimiterFace(private val faces: List<RateLimiterFace>) : RateLimiterFace by faces[0] {
    private var turn = 0

    override val putsBack: Boolean
        get() = faces.all { it.putsBack }

    private fun next() = faces[turn++ % faces.size]

    override suspend fun acquire(permits: Int) = next().acquire(permits)

    override fun tryAcquire(permits: Int) = next().tryAcquire(permits)
}
