package baton.clock

import baton.BatonClock
import baton.monitoring.Monitor
import baton.monitoring.Usage
import baton.resilience.AttemptTimeoutException
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.runBlockingOfAnyKotlinx
import baton.waiting.clock.ClockedDispatcher
import baton.waiting.clock.VirtualClock
import java.io.IOException
import java.time.Duration
import java.time.Instant
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Objects with a clock of users, which moves when the test says so and may fail. */
internal class GivenClockTest {
    private class Timer(val at: Long, val task: Runnable)

    private open class UsersClock : BatonClock {
        @Volatile var now = 0L
        private val timers = CopyOnWriteArrayList<Timer>()

        override fun instant(): Instant = Instant.EPOCH.plusNanos(now)

        override fun nanoTime() = now

        override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
            val timer = Timer(now + delay.toNanos(), task)
            timers += timer
            return AutoCloseable { timers -= timer }
        }

        fun advance(by: Duration) {
            now += by.toNanos()
            while (true) timers.filter { it.at <= now }.minByOrNull { it.at }?.also { timers -= it }?.task?.run()
                ?: break
        }

        val isIdle
            get() = timers.isEmpty()
    }

    private class UncloseableClock : UsersClock() {
        override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
            super.schedule(delay, task)
            return AutoCloseable { throw IOException("close") }
        }
    }

    private class RefusingClock : UsersClock() {
        override fun schedule(delay: Duration, task: Runnable) = throw IllegalStateException("schedule")
    }

    private class HastyClock : UsersClock() {
        override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
            task.run()
            return AutoCloseable {}
        }
    }

    private fun inTime(call: suspend CoroutineScope.() -> Unit) {
        val done = CompletableFuture<Unit>()
        val thread = Thread {
            runCatching { runBlockingOfAnyKotlinx { call() } }.fold({ done.complete(it) }, done::completeExceptionally)
        }
        // The exceptions of a clock are reported there.
        thread.setUncaughtExceptionHandler { _, e -> if (e !is IOException && e !is IllegalStateException) throw e }
        thread.isDaemon = true
        thread.start()
        done.get(PATIENCE, TimeUnit.SECONDS)
    }

    // ---- timers that cannot be closed

    @Test
    fun waiter_whoseTimerCannotBeClosed_isGrantedAllTheSame() = inTime {
        val breaker = CircuitBreaker(CircuitBreakerConfig(clock = UncloseableClock()))
        breaker.trip()
        var wasClosed = false
        val wait = launch(start = CoroutineStart.UNDISPATCHED) { wasClosed = breaker.awaitClosed(1.minutes) }
        breaker.reset()
        wait.join()
        assertTrue(wasClosed)
    }

    @Test
    fun limiter_whoseTimersCannotBeClosed_goesOn() = inTime {
        val clock = UncloseableClock()
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
        limiter.acquire()
        var granted = false
        val wait = launch(start = CoroutineStart.UNDISPATCHED) { granted = limiter.tryAcquire(1, 1.minutes) }
        clock.advance(Duration.ofSeconds(1))
        wait.join()
        assertTrue(granted)
        assertEquals(0, limiter.waiting)
    }

    @Test
    fun retry_whoseTimersCannotBeClosed_returns() = inTime {
        val clock = UncloseableClock()
        val policy = RetryPolicy(attemptTimeout = 1.minutes, clock = clock)
        assertEquals(1, retry(policy) { withContext(Dispatchers.Default) { 1 } })
    }

    @Test
    fun retry_cancelledInAPauseWhoseTimerCannotBeClosed_ends() = inTime {
        val policy = RetryPolicy(backoff = Backoff.constant(1.hours), clock = UncloseableClock())
        val call = launch(start = CoroutineStart.UNDISPATCHED) { retry(policy) { throw IOException() } }
        call.cancelAndJoin()
    }

    // ---- timers that are refused

    @Test
    fun retry_whoseClockRefusesTheTimeout_ends() = inTime {
        val clock = RefusingClock()
        assertEquals(1, retry(RetryPolicy(attemptTimeout = 1.minutes, clock = clock)) { 1 })
        val policy = RetryPolicy(maxAttempts = 1, attemptTimeout = 1.milliseconds, clock = clock)
        assertThrows<AttemptTimeoutException> { retry(policy) { awaitCancellation() } }
    }

    @Test
    fun retry_whoseClockRefusesThePause_ends() = inTime {
        val policy = RetryPolicy(3, Backoff.constant(1.milliseconds), clock = RefusingClock())
        assertThrows<IOException> { retry(policy) { throw IOException() } }
    }

    @Test
    fun monitor_whoseClockRefusesATimer_leavesTheScopeAlive() = inTime {
        val scope = CoroutineScope(Job() + Dispatchers.Default)
        val looks = AtomicInteger()
        val monitor = Monitor(scope, 1.milliseconds, clock = RefusingClock())
        val third = CompletableDeferred<Unit>()
        monitor.watch("source") {
            if (looks.incrementAndGet() == 3) third.complete(Unit)
            Usage(0, 1, 0)
        }
        third.await()
        assertTrue(scope.isActive)
        monitor.close()
        scope.coroutineContext[Job]!!.cancelAndJoin()
    }

    @Test
    fun timedWait_whoseClockRefusesTheTimer_throwsIt() = inTime {
        val clock = RefusingClock()
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
        limiter.acquire()
        assertThrows<IllegalStateException> { limiter.tryAcquire(1, 1.minutes) }
        assertEquals(0, limiter.waiting)
        val breaker = CircuitBreaker(CircuitBreakerConfig(clock = clock))
        breaker.trip()
        assertThrows<IllegalStateException> { breaker.awaitClosed(1.minutes) }
        assertEquals(0, breaker.waiting)
    }

    // ---- timers that fire at once, on the thread that sets them

    @Test
    fun timedWait_whoseTimerFiresAtOnce_isOver() = inTime {
        val clock = HastyClock()
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
        limiter.acquire()
        assertFalse(limiter.tryAcquire(1, 1.minutes))
        assertEquals(0, limiter.waiting)
        val breaker = CircuitBreaker(CircuitBreakerConfig(clock = clock))
        breaker.trip()
        assertFalse(breaker.awaitClosed(1.minutes))
        assertEquals(0, breaker.waiting)
        val policy = RetryPolicy(maxAttempts = 1, attemptTimeout = 1.minutes, clock = clock)
        assertThrows<AttemptTimeoutException> { retry(policy) { awaitCancellation() } }
        var attempts = 0
        val pause = RetryPolicy(3, Backoff.constant(1.hours), Jitter.None, maxDelay = 1.hours, clock = clock)
        assertThrows<IOException> {
            retry(pause) {
                attempts++
                throw IOException()
            }
        }
        assertEquals(3, attempts)
    }

    // ---- no lock while the clock is read

    @Test
    fun registry_readsTheClock_withoutALock() = inTime {
        lateinit var breakers: CircuitBreakers<String>
        val other = AtomicReference<() -> Unit>()
        val clock =
            object : UsersClock() {
                override fun nanoTime(): Long {
                    other.getAndSet(null)?.invoke()
                    return super.nanoTime()
                }
            }
        breakers = CircuitBreakers(CircuitBreakerConfig(clock = clock), keepIdle = 1.minutes)
        breakers.protect("a") {}
        clock.advance(Duration.ofMinutes(2))
        repeat(5) { breakers.protect("b") {} }
        assertEquals(1, breakers.size)
        other.set { CompletableFuture.runAsync { breakers.reset("b") }.get(PATIENCE / 2, TimeUnit.SECONDS) }
        breakers.protect("b") {}
        other.set { CompletableFuture.runAsync { breakers.trip("c") }.get(PATIENCE / 2, TimeUnit.SECONDS) }
        breakers.protect("a") {}
    }

    @Test
    fun binding_readsTheClock_withoutALock() = inTime {
        val limiter = RateLimiter.tokenBucket(5 per 1.seconds)
        val other = AtomicReference<() -> Unit>()
        val clock =
            object : UsersClock() {
                override fun nanoTime(): Long {
                    other.getAndSet(null)?.invoke()
                    return super.nanoTime()
                }
            }
        val dispatcher =
            object : CoroutineDispatcher(), ClockedDispatcher {
                override val clock = clock

                override fun dispatch(context: CoroutineContext, block: Runnable) =
                    Dispatchers.Default.dispatch(context, block)
            }
        other.set {
            CompletableFuture.runAsync { runBlockingOfAnyKotlinx { limiter.acquire() } }
                .get(PATIENCE / 2, TimeUnit.SECONDS)
        }
        withContext(dispatcher) { limiter.acquire() }
    }

    // ---- others

    /** A thread may advance the clock between the decision of another one and its timer. */
    @Test
    fun limiter_whoseClockMovesBeforeTheTimerIsSet_grants() = inTime {
        val clock =
            object : UsersClock() {
                var movesOnce = true

                override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
                    if (movesOnce) advance(Duration.ofSeconds(1))
                    movesOnce = false
                    return super.schedule(delay, task)
                }
            }
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = clock)
        limiter.acquire()
        limiter.acquire()
        assertTrue(clock.isIdle)
    }

    @Test
    fun virtualClock_runsAtOnce_whatIsDue() {
        val scheduler = TestCoroutineScheduler()
        val clock = VirtualClock(scheduler, StandardTestDispatcher(scheduler), Instant.EPOCH)
        val runs = AtomicInteger()
        clock.schedule(Duration.ofSeconds(-1)) { runs.incrementAndGet() }
        clock.schedule(Duration.ZERO) { runs.incrementAndGet() }
        scheduler.runCurrent()
        assertEquals(2, runs.get())
        BatonClock.system().schedule(Duration.ofSeconds(-1)) { runs.incrementAndGet() }
        BatonClock.system().schedule(Duration.ofNanos(Long.MIN_VALUE)) { runs.incrementAndGet() }
        val last = CountDownLatch(1)
        BatonClock.system().schedule(Duration.ofMillis(1)) { last.countDown() }
        assertTrue(last.await(PATIENCE, TimeUnit.SECONDS))
    }

    private companion object {
        const val PATIENCE = 120L
    }
}
