package baton.stack

import baton.asClock
import baton.hostile.ShallowStack
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.SlidingWindow
import baton.resilience.breaker.leave
import baton.resilience.per
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.startCoroutine
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A call of a limiter or a breaker runs out of stack, at whatever depth. It is done as a whole or not at all:
 * afterwards all waiters are served, no permit is lost and no state is half changed.
 */
class ResilienceOverflowStackTest {
    private fun <S : Subject> sweep(prepare: () -> S, operation: (S) -> Unit, check: (S) -> Unit) {
        val overflows =
            ShallowStack.sweep(
                prepare,
                {
                    operation(it)
                    it.done = 1
                },
                SHIFTS,
                check,
            )
        assertTrue(overflows > 0)
    }

    private abstract class Subject {
        /** 1 when the operation has returned. A field, because a setter would need stack. */
        @JvmField var done = 0
        val waiters = Waiters()

        /** The stack may overflow in its own code, too. */
        fun startHere(wait: suspend () -> Unit) {
            wait.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
    }

    /** Counts the coroutines that go on, on a dispatcher: in place they would need the stack of the operation. */
    private class Waiters {
        private val ended = AtomicInteger()

        fun start(wait: suspend () -> Unit) {
            val end = Continuation<Unit>(Dispatchers.Default) { ended.incrementAndGet() }
            check(wait.startCoroutineUninterceptedOrReturn(end) === COROUTINE_SUSPENDED)
        }

        fun awaitEnded(count: Int) {
            while (ended.get() < count) Thread.yield()
            assertEquals(count, ended.get())
        }
    }

    /** Without permits at first. */
    private class Limiter(waiters: Int) : Subject() {
        private val clock = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 10, clock = clock.asClock())

        init {
            check(limiter.tryAcquire(10))
            repeat(waiters) { this.waiters.start { limiter.acquire() } }
        }

        fun pass(days: Int) = apply { clock += days.days }
    }

    private fun assertServed(subject: Limiter, waiters: Int, permitsLeft: Int) {
        assertEquals(permitsLeft.toLong(), subject.limiter.availablePermits)
        assertEquals(0, subject.limiter.waiting)
        subject.waiters.awaitEnded(waiters)
    }

    @Test
    fun limiter_overflowWhileOthersAreGranted_servesThemAndTakesNothing() =
        sweep({ Limiter(waiters = 2).pass(3) }, { check(it.limiter.tryAcquire()) }) {
            assertServed(it, waiters = 2, permitsLeft = 1 - it.done)
        }

    @Test
    fun limiter_overflowOfAFreePermit_takesNothing() =
        sweep({ Limiter(waiters = 0).pass(1) }, { check(it.limiter.tryAcquire()) }) {
            assertServed(it, waiters = 0, permitsLeft = 1 - it.done)
        }

    @Test
    fun limiter_overflowWhileItQueues_servesTheOthersOnly() =
        sweep({ Limiter(waiters = 1) }, { it.startHere { it.limiter.acquire() } }) {
            assertServed(it.pass(2), waiters = 1, permitsLeft = 1 - it.done)
        }

    @Test
    fun limiter_overflowOfAnUpdate_servesAll() =
        sweep({ Limiter(waiters = 2).pass(1) }, { it.limiter.update(2 per 2.days, burst = 10) }) {
            assertServed(it.pass(2), waiters = 2, permitsLeft = 1)
        }

    @Test
    fun limiter_overflowOfAClose_anotherCloseFailsAllWaiters() =
        sweep({ Limiter(waiters = 2) }, { it.limiter.close() }) {
            it.limiter.close()
            assertServed(it, waiters = 2, permitsLeft = 0)
        }

    @Test
    fun limiter_overflowOfAReservation_makesNone() =
        sweep({ Limiter(waiters = 1) }, { it.limiter.reserve() }) {
            assertServed(it.pass(2), waiters = 1, permitsLeft = 1 - it.done)
        }

    /** Two calls fill its window. */
    private class Breaker(waiters: Int, state: BreakerState) : Subject() {
        private val clock = TestTimeSource()
        val breaker =
            CircuitBreaker(
                CircuitBreakerConfig(
                    SlidingWindow.Calls(2),
                    minimumCalls = 2,
                    openFor = Backoff.constant(1.seconds),
                    jitter = Jitter.Factor(0.0),
                    probes = 2,
                    probeTimeout = 1.seconds,
                    clock = clock.asClock(),
                )
            )

        init {
            breaker.onChange { _, _ -> }
            if (state != BreakerState.CLOSED) repeat(2) { fail() }
            if (state == BreakerState.HALF_OPEN) {
                pass()
                succeed()
            }
            assertEquals(state, breaker.state)
            repeat(waiters) { this.waiters.start { breaker.awaitClosed() } }
        }

        fun pass() {
            clock += 1.seconds
        }

        fun succeed() {
            val start = breaker.start()
            breaker.leave(breaker.enter(start), start)
        }

        fun fail() {
            val start = breaker.start()
            breaker.leaveFailed(breaker.enter(start), start, failure, isActive = true)
        }
    }

    /** Opens and closes it by calls. */
    private fun assertWorks(subject: Breaker, waiters: Int) {
        val breaker = subject.breaker
        breaker.reset()
        assertEquals(BreakerState.CLOSED, breaker.state)
        subject.waiters.awaitEnded(waiters)
        val changes = mutableListOf<String>()
        breaker.onChange { from, to -> synchronized(changes) { changes += "$from $to" } }
        repeat(2) { subject.fail() }
        assertEquals(BreakerState.OPEN, breaker.state)
        subject.pass()
        repeat(2) { subject.succeed() }
        assertEquals(BreakerState.CLOSED, breaker.state)
        while (synchronized(changes) { changes.size } < 3) Thread.yield()
        assertEquals(listOf("CLOSED OPEN", "OPEN HALF_OPEN", "HALF_OPEN CLOSED"), synchronized(changes) { changes })
    }

    @Test
    fun breaker_overflowOfAReset_letsAllWaitersGo() =
        sweep({ Breaker(waiters = 2, BreakerState.OPEN) }, { it.breaker.reset() }) { assertWorks(it, waiters = 2) }

    @Test
    fun breaker_overflowOfTheLastProbe_closesWithAnother() =
        sweep({ Breaker(waiters = 2, BreakerState.HALF_OPEN) }, { it.succeed() }) {
            it.pass()
            if (it.breaker.state == BreakerState.HALF_OPEN) it.succeed()
            it.breaker.trip()
            assertWorks(it, waiters = 2)
        }

    @Test
    fun breaker_overflowOfAFailure_opensWithAnother() =
        sweep({ Breaker(waiters = 0, BreakerState.CLOSED).also { it.fail() } }, { it.fail() }) {
            if (it.breaker.state == BreakerState.CLOSED) it.fail()
            assertEquals(BreakerState.OPEN, it.breaker.state)
            assertWorks(it, waiters = 0)
        }

    @Test
    fun breaker_overflowOfTheFirstProbe_letsInOthers() =
        sweep({ Breaker(waiters = 1, BreakerState.OPEN).also { it.pass() } }, { it.succeed() }) {
            it.pass()
            while (it.breaker.state != BreakerState.CLOSED) it.succeed()
            assertWorks(it, waiters = 1)
        }

    @Test
    fun breaker_overflowWhileItQueues_letsTheOthersGo() =
        sweep({ Breaker(waiters = 1, BreakerState.OPEN) }, { it.startHere { it.breaker.awaitClosed() } }) {
            assertEquals(1 + it.done, it.breaker.waiting)
            assertWorks(it, waiters = 1)
        }

    private companion object {
        /** Each of these calls has many levels, and a subject has waiters. */
        const val SHIFTS = 4

        val failure = Exception("refused")
    }
}
