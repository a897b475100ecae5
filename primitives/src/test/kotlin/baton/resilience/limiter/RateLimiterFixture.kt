package baton.resilience.limiter

import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.TestTimeSource
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** A limiter without permits. Its clock stands still, until the test has it bring [burst] permits, in one [period]. */
class PacedLimiter(
    faceOf: RateLimiterFaceOf,
    val burst: Int,
    private val period: Duration = LONG_PERIOD,
    maxWaiting: Int = Int.MAX_VALUE,
    isLeaky: Boolean = false,
    rates: Int = 1,
) {
    private val clock = TestTimeSource()
    private val rate = Rate(burst.toLong(), period)
    val limiter: RateLimiter =
        if (isLeaky) RateLimiter.leakyBucket(rate, maxWaiting, clock.asClock())
        else {
            val others = Array(rates - 1) { Rate(rate.permits * (it + 1), rate.per * (it + 1)) }
            RateLimiter.of(
                rate,
                *others,
                burst = burst.toLong(),
                maxWaiting = maxWaiting,
                clock = clock.asClock(),
                name = "api",
            )
        }
    val face: RateLimiterFace = faceOf(limiter)

    val available: Int
        get() = limiter.availablePermits.toInt()

    init {
        assertTrue(limiter.tryAcquire(burst))
    }

    /** Time passes, and the limiter reads its clock. */
    fun refill(periods: Int = 1) {
        face.step {
            clock += period * periods
            assertTrue(limiter.availablePermits >= 0)
        }
    }
}

/** Longer than any timer of a test. */
val LONG_PERIOD: Duration = 100.days

/** The common part of the topics of the contract of rate limiters. */
interface RateLimiterFixture : WaiterFixture {
    val faceOf: RateLimiterFaceOf

    val period: Duration
        get() = LONG_PERIOD

    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(
                kind("acquire(1)", 1),
                kind("acquire(2)", 2),
                kind("leaky acquire(1)", 1, isLeaky = true),
                kind("acquire(2) of three rates", 2, rates = 3),
            )

    private fun kind(name: String, weight: Int, isLeaky: Boolean = false, rates: Int = 1): WaitingKind {
        val create = { LimiterPlace(PacedLimiter(faceOf, weight, period, isLeaky = isLeaky, rates = rates)) }
        val closed = RateLimiterClosedException::class.java
        return WaitingKind(name, passesOn = create().face.putsBack, closed = closed, create = create)
    }
}

/** Each caller acquires as many permits as come in one period. */
internal class LimiterPlace(private val paced: PacedLimiter) : WaitingPlace {
    val face = paced.face
    private var isGranted = false

    override val waiting: Int
        get() = face.waiting

    override suspend fun waitHere() = face.acquire(paced.burst)

    override suspend fun waitHere(timeout: Duration) = face.tryAcquire(paced.burst, timeout)

    override fun grant() {
        paced.refill()
        isGranted = true
    }

    override fun close(cause: Throwable?) = face.close(cause)

    override fun assertIdle(holders: Int) {
        assertEquals(0, waiting)
        val left = if (isGranted) paced.burst * (1 - holders) else 0
        if (face.putsBack || left == 0) assertEquals(left, paced.available)
        paced.refill()
        assertEquals(paced.burst, paced.available)
    }
}

/**
 * The contract of a rate limiter for every kind of caller: a suspend function, a future, a thread, or all in one queue.
 *
 * It consists of topics, interfaces of their own: an API that cannot do one of them implements the others.
 */
abstract class RateLimiterContract(override val faceOf: RateLimiterFaceOf) : WaiterContract, RateLimiterOrder
