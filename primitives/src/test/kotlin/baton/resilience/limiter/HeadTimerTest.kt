package baton.resilience.limiter

import baton.asClock
import baton.reportingTo
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.waiting.NoTimerThread
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.CoroutineContext
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.DurationUnit
import kotlin.time.TestTimeSource
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The timer of the head, on working and on broken clocks. */
@OptIn(InternalCoroutinesApi::class)
internal class HeadTimerTest {
    /** The faults of a clock when a timer is set. */
    enum class Fault(val set: (Runnable, MutableList<Runnable>) -> Unit) {
        NONE({ action, timers -> timers += action }),
        THROWS({ _, _ -> throw RejectedExecutionException("closed") }),
        THROWS_AN_ERROR({ _, _ -> throw Error("broken") }),
        SETS_AND_THROWS({ action, timers ->
            timers += action
            throw OutOfMemoryError("unable to create native thread")
        }),
        RUNS_IN_PLACE({ action, _ -> action.run() }),
        RUNS_IN_PLACE_AND_LATER({ action, timers ->
            timers += action
            action.run()
        }),
    }

    /** Its timers fire when the test says so. It resumes in place. */
    private class FaultyClock(private val fault: Fault) : CoroutineDispatcher(), Delay {
        val timers = mutableListOf<Runnable>()
        var disposed = 0

        override fun dispatch(context: CoroutineContext, block: kotlinx.coroutines.Runnable) = block.run()

        override fun invokeOnTimeout(
            timeMillis: Long,
            block: kotlinx.coroutines.Runnable,
            context: CoroutineContext,
        ): DisposableHandle {
            synchronized(timers) { fault.set(block, timers) }
            return DisposableHandle {
                disposed++
                synchronized(timers) { timers.remove(block) }
            }
        }

        override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) =
            throw UnsupportedOperationException()

        fun fire() {
            val due = synchronized(timers) { timers.toList().also { timers.clear() } }
            due.forEach(Runnable::run)
        }
    }

    private class ReadTime : AbstractLongTimeSource(DurationUnit.NANOSECONDS) {
        val reads = AtomicInteger()
        @Volatile var now = 0L

        override fun read(): Long {
            reads.incrementAndGet()
            return now
        }
    }

    private fun start(dispatcher: CoroutineDispatcher, block: suspend () -> Unit): Job =
        CoroutineScope(dispatcher).launch(start = CoroutineStart.UNDISPATCHED) { block() }

    /** The limiter's clock is the real one, so a timer of our own serves the waiters even if theirs fails. */
    @ParameterizedTest
    @EnumSource
    fun headOnAFaultyClock_allAreServedInTheEnd(fault: Fault) {
        val limiter = RateLimiter.tokenBucket(1 per 2.milliseconds, burst = 1)
        assertTrue(limiter.tryAcquire())
        val clock = FaultyClock(fault)
        val jobs = List(5) { i -> start(if (i % 2 == 0) clock else Dispatchers.Default) { limiter.acquire() } }
        runBlocking {
            withTimeout(2.minutes) {
                while (!jobs.all { it.isCompleted }) {
                    clock.fire()
                    Thread.yield()
                }
            }
        }
        assertEquals(0, limiter.waiting)
    }

    @Test
    fun headsThatLeave_leaveNoTimer() {
        val clock = FaultyClock(Fault.NONE)
        val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 3)
        assertTrue(limiter.tryAcquire(3))
        val jobs = List(3) { start(clock) { limiter.acquire(3) } }
        assertEquals(1, clock.timers.size)
        for (job in jobs) {
            job.cancel()
            assertEquals(if (limiter.waiting == 0) 0 else 1, clock.timers.size)
        }
        val closed = start(clock) { runCatching { limiter.acquire() } }
        limiter.close()
        assertTrue(closed.isCompleted)
        assertEquals(0, clock.timers.size)
        assertEquals(4, clock.disposed)
    }

    @Test
    fun timerThatCannotBeSet_leavesNoTimersBehind_andTheHeadIsServedAllTheSame() {
        val time = ReadTime()
        val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 1, clock = time.asClock())
        assertTrue(limiter.tryAcquire())
        val reported = ArrayList<Throwable>()
        lateinit var job: Job
        val before = NoTimerThread.queued
        val queued =
            NoTimerThread.during {
                reportingTo(reported) {
                    job = start(Dispatchers.Default) { limiter.acquire() }
                    repeat(100) { limiter.availablePermits }
                }
                // From here on only the repeated wake-ups read it. A set timer that has thrown is left by each, or by
                // none.
                val read = time.reads.get()
                while (time.reads.get() < read + 5) Thread.onSpinWait()
                val left = NoTimerThread.queued
                time.now = 1.days.inWholeNanoseconds
                runBlocking { withTimeout(2.minutes) { job.join() } }
                left
            }
        assertTrue(reported.all { it is OutOfMemoryError } && reported.size in 1..101, "$reported")
        // One is being set, perhaps.
        assertTrue(queued <= before + 1, "${queued - before} timers are left")
    }

    @Test
    fun timerThatFiresTooEarly_isSetAgain() {
        val time = TestTimeSource()
        val clock = FaultyClock(Fault.NONE)
        val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 1, clock = time.asClock())
        assertTrue(limiter.tryAcquire())
        val job = start(clock) { limiter.acquire() }
        repeat(3) {
            clock.fire()
            assertEquals(1, clock.timers.size)
        }
        time += 1.days
        clock.fire()
        assertTrue(job.isCompleted)
        assertEquals(0, clock.timers.size)
    }

    @Test
    fun dispatcherThatDropsItsTimer_haltsTheQueueUntilTheNextCall() {
        val time = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(1 per 1.days, burst = 1, clock = time.asClock())
        assertTrue(limiter.tryAcquire())
        val dropping = FaultyClock(Fault.NONE)
        val sound = FaultyClock(Fault.NONE)
        val head = start(dropping) { limiter.acquire() }
        val next = start(sound) { limiter.acquire() }
        dropping.timers.clear()
        time += 1.days
        assertEquals(2, limiter.waiting)
        assertEquals(0, limiter.availablePermits)
        assertTrue(head.isCompleted)
        time += 1.days
        sound.fire()
        assertTrue(next.isCompleted)
    }

    @Test
    fun dispatcherThatWasShutDown_refusesAnyNumberOfWaiters() = runBlocking {
        val time = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(1 per 5.milliseconds, burst = 1, clock = time.asClock())
        assertTrue(limiter.tryAcquire())
        val dead = Executors.newSingleThreadScheduledExecutor()
        val clock = dead.asCoroutineDispatcher()
        val lost = List(5_000) { start(clock) { limiter.acquire() } }
        while (limiter.waiting < lost.size) yield()
        dead.shutdown()
        time += 5.milliseconds
        withTimeout(2.minutes) { lost.joinAll() }
        assertTrue(lost.all { it.isCancelled })
        assertEquals(1, limiter.availablePermits)
    }

    @Test
    fun dispatcherThatWasShutDown_doesNotStopTheQueue() = runBlocking {
        val time = TestTimeSource()
        val limiter = RateLimiter.tokenBucket(4 per 5.milliseconds, clock = time.asClock())
        assertTrue(limiter.tryAcquire(4))
        val dead = Executors.newSingleThreadScheduledExecutor()
        val lost = start(dead.asCoroutineDispatcher()) { limiter.acquire() }
        dead.shutdown()
        val others = List(3) { start(Dispatchers.Default) { limiter.acquire() } }
        time += 5.milliseconds
        withTimeout(2.minutes) {
            lost.join()
            others.joinAll()
        }
        assertTrue(lost.isCancelled && others.none { it.isCancelled })
    }
}
