package baton.interop

import baton.callBlockingOfAnyKotlinx as runBlocking
import baton.hostile.HostileDispatcher
import baton.hostile.Hostility
import baton.interop.blocking.BlockedCall
import baton.interop.blocking.ThreadCalls
import baton.interop.blocking.Turns
import baton.resilience.RateLimiter
import baton.resilience.limiter.KotlinRateLimiterFace
import baton.resilience.limiter.MixedRateLimiterFace
import baton.resilience.limiter.PacedLimiter
import baton.resilience.limiter.RateLimiterContract
import baton.resilience.limiter.RateLimiterFace
import java.time.Duration as JavaDuration
import java.util.concurrent.TimeoutException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.future.await
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * Futures. A future that has been granted keeps its permits, also if the coroutine that awaits it is cancelled then.
 *
 * @param patience how long an `acquire` waits; null for one without a timeout.
 */
class JavaRateLimiterFace(private val limiter: AsyncRateLimiter, private val patience: JavaDuration? = null) :
    RateLimiterFace {
    constructor(limiter: RateLimiter) : this(AsyncRateLimiter.of(limiter))

    override val putsBack: Boolean
        get() = false

    override val waiting: Int
        get() = limiter.waiting()

    override suspend fun acquire(permits: Int) {
        (if (patience == null) limiter.acquire(permits) else limiter.acquire(permits, patience)).await()
    }

    override fun tryAcquire(permits: Int) = limiter.tryAcquire(permits)

    override suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean =
        throw UnsupportedOperationException("in real time")

    override fun close(cause: Throwable?) = if (cause == null) limiter.close() else limiter.close(cause)
}

/**
 * Threads; those of a mixed queue wait for the others in `runBlocking`. A thread that was granted keeps its permits.
 */
private class BlockingRateLimiterFace(private val limiter: RateLimiter, isMixed: Boolean = false) :
    RateLimiterFace by JavaRateLimiterFace(limiter) {
    private val blocking = AsyncRateLimiter.of(limiter).blocking()
    private val calls = ThreadCalls(limiter::waiting)
    private val others = Turns<RateLimiterFace>(isMixed, KotlinRateLimiterFace(limiter), JavaRateLimiterFace(limiter))

    override suspend fun acquire(permits: Int) {
        val other = others.next()
        calls.call(undo = {}) {
            if (other == null) blocking.acquire(permits) else runBlocking { other.acquire(permits) }
        }
    }

    override fun tryAcquire(permits: Int) = blocking.tryAcquire(permits)

    override fun close(cause: Throwable?) = calls.step { limiter.close(cause) }

    override fun <T> step(change: () -> T): T = calls.step(change)
}

// Left out, as in the other contracts: timeouts in virtual time and the topic of dispatchers.

class JavaRateLimiterContractTest : RateLimiterContract(::JavaRateLimiterFace)

class PatientJavaRateLimiterContractTest :
    RateLimiterContract({ JavaRateLimiterFace(AsyncRateLimiter.of(it), JavaDuration.ofDays(36_500)) })

class MixedJavaKotlinRateLimiterContractTest :
    RateLimiterContract({ MixedRateLimiterFace(listOf(JavaRateLimiterFace(it), KotlinRateLimiterFace(it))) })

class BlockingRateLimiterContractTest : RateLimiterContract({ BlockingRateLimiterFace(it) })

class MixedBlockingRateLimiterContractTest : RateLimiterContract({ BlockingRateLimiterFace(it, isMixed = true) })

/** The clock of the limiter promises permits in time, and then stands still. */
class RateLimiterTimeoutTest {
    private val paced = PacedLimiter(::JavaRateLimiterFace, burst = 1, period = 1.nanoseconds)
    private val limiter = AsyncRateLimiter.of(paced.limiter)

    @Test
    fun timedAcquire_permitsDoNotCome_failsWhenTheTimeIsOverAndTakesNothing() {
        for (millis in listOf(1L, 20L)) {
            val timeout = JavaDuration.ofMillis(millis)
            val late = listOf(limiter.acquire(timeout), limiter.acquire(1, timeout)).map { Futures.awaitFailure(it) }
            val thrown = assertThrows<TimeoutException> { limiter.blocking().acquire(1, timeout) }
            for (failure in late + thrown) {
                assertInstanceOf(TimeoutException::class.java, failure)
                assertTrue(failure.message!!.startsWith("no permit within ${millis}ms from RateLimiter 'api' ("))
            }
        }
        assertEquals(0, limiter.waiting())
        paced.refill()
        assertEquals(1, paced.available)
    }

    @Test
    fun timedAcquire_permitsCome_isGrantedByTheTimer() {
        val turn = limiter.acquire(JavaDuration.ofMinutes(1))
        val blocked = BlockedCall.parked { limiter.blocking().acquire(1, JavaDuration.ofMinutes(1)) }
        paced.refill()
        Futures.await(turn)
        paced.refill()
        blocked.result()
    }
}

/** The executors that users pass have a fault. */
class RateLimiterExecutorTest {
    @ParameterizedTest
    @EnumSource
    fun acquire_hostileExecutor_isGrantedInTurnAndTheOthersAreServed(hostility: Hostility) {
        val executor = HostileDispatcher(hostility)
        val paced = PacedLimiter(::JavaRateLimiterFace, burst = 1)
        val limiter = AsyncRateLimiter.of(paced.limiter)
        val futures = List(3) { limiter.acquire(1, executor) } + limiter.acquire()
        for (future in futures) {
            paced.refill()
            executor.run()
            // A grant whose completion was dropped is still in the future: the cancel completes the future with it.
            if (!future.isDone) future.cancel(false)
            future.join()
            assertEquals(futures.indexOf(future) + 1, futures.count { it.isDone })
        }
        assertEquals(0, paced.available)
    }
}
