package baton.test.assertions

import baton.batch.BatchProcessor
import baton.channels.Channel
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.scheduler.Schedule
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.test.BatonAssertions
import baton.test.shouldBeClosed
import baton.test.shouldBeIdle
import baton.test.shouldHaveInUse
import baton.test.shouldHaveWaiters
import kotlin.time.Duration.Companion.days
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource
import org.opentest4j.AssertionFailedError

class AssertionsTest {
    private fun errorOf(assertion: () -> Unit) = assertThrows<AssertionFailedError> { assertion() }

    private fun messageOf(assertion: () -> Unit) = errorOf(assertion).message

    /** [held] is the line of what is held by [use], [waiting] that of the callers in [wait]. */
    class Case(
        val source: Monitored,
        val held: String?,
        val waiting: String?,
        val use: suspend CoroutineScope.() -> Unit = {},
        val wait: suspend CoroutineScope.() -> Unit,
    ) {
        override fun toString() = source.javaClass.simpleName
    }

    private fun TestScope.start(name: String, block: suspend CoroutineScope.() -> Unit): Job =
        launch(CoroutineName(name), block = block).also { runCurrent() }

    @ParameterizedTest
    @MethodSource("cases")
    fun idle_ofEachType_failsForWhatIsHeldAndForWhoWaits(case: Case) = runTest {
        val source = case.source
        assertSame(source, source.shouldBeIdle())
        BatonAssertions.assertIdle(source)
        val user = start("user", case.use)
        val lines = ArrayList<String>()
        case.held?.let { lines += it }
        if (case.held == null) source.shouldBeIdle()
        else assertEquals("$source is not idle\n  ${lines.joinToString("\n  ")}", messageOf { source.shouldBeIdle() })
        val waiter = start("waiter", case.wait)
        case.waiting?.let { lines += it }
        assertEquals("$source is not idle\n  ${lines.joinToString("\n  ")}", messageOf { source.shouldBeIdle() })
        waiter.cancelAndJoin()
        user.cancelAndJoin()
        runCurrent()
        source.shouldBeIdle()
    }

    @Test
    fun idle_ofASchedule_dependsOnItsRunsAndNotOnItsEntries() = runTest {
        val schedule = Schedule<String>(maxConcurrency = 1) { awaitCancellation() }
        schedule.put("a", Trigger.every(1.days))
        schedule.put("b", Trigger.every(1.days))
        val run = start("run") { schedule.run() }
        schedule.shouldBeIdle()
        schedule.triggerNow("a")
        schedule.triggerNow("b")
        runCurrent()
        assertEquals(
            "$schedule is not idle\n  runs in progress: 1\n  runs waiting: 1, ScheduledTask",
            messageOf { schedule.shouldBeIdle() },
        )
        run.cancelAndJoin()
    }

    @Test
    fun idle_ofAPoolOfTheUser_isItsUsage() {
        var active = 0L
        val pool =
            object : Monitored {
                override val name = "pool"

                override fun usage() = Usage(active, capacity = 3, waiting = 12, waiters = List(10) { "w$it" })

                override fun toString() = "the pool"
            }
        val waiters = "\n  callers waiting: 12, w0, w1, w2, w3, w4, w5, w6, w7, w8, w9 and 2 more"
        assertEquals("the pool is not idle$waiters", messageOf { pool.shouldBeIdle() })
        active = 2
        assertEquals("the pool is not idle\n  in use: 2$waiters", messageOf { pool.shouldBeIdle() })
        assertEquals("the pool: in use = 2, expected = 3\n  in use: 2$waiters", messageOf { pool shouldHaveInUse 3 })
        pool shouldHaveInUse 2
    }

    @Test
    fun failure_ofAnAssertion_hasTheTwoValues() = runTest {
        val semaphore = Semaphore(3, acquired = 2)
        val idle = errorOf { BatonAssertions.assertIdle(semaphore) }
        assertEquals(listOf("idle", "permits held: 2"), listOf(idle.expected.value, idle.actual.value))
        val inUse = errorOf { BatonAssertions.assertInUse(3, semaphore) }
        assertEquals(listOf<Any?>(3L, 2L), listOf(inUse.expected.value, inUse.actual.value))
        val waiters = errorOf { BatonAssertions.assertWaiters(1, semaphore) }
        assertEquals(listOf<Any?>(1, 0L), listOf(waiters.expected.value, waiters.actual.value))
        val closed = errorOf { BatonAssertions.assertClosed(semaphore) }
        assertEquals(listOf<Any?>("closed", "open"), listOf(closed.expected.value, closed.actual.value))
    }

    @Test
    fun waiters_areCounted() = runTest {
        val mutex = Mutex(locked = true, name = "account")
        mutex shouldHaveWaiters 0
        val jobs = List(2) { start("w$it") { mutex.withLock(owner = "owner $it") {} } }
        BatonAssertions.assertWaiters(2, mutex shouldHaveWaiters 2)
        assertEquals(
            "$mutex: waiting = 2, expected = 1\n  holders: 1 (the holder is unknown: -Dbaton.deadlocks=true " +
                "records it)\n  callers waiting: 2, w0, w1",
            messageOf { mutex shouldHaveWaiters 1 },
        )
        jobs.forEach { it.cancel() }
        val receivers = Channel<Int>(2)
        val receiver = start("r") { receivers.receive() }
        receivers shouldHaveWaiters 1
        receiver.cancel()
    }

    @Test
    fun holder_withAnOwner_isNamedWithoutDeadlockDetection() = runTest {
        val mutex = Mutex().also { it.tryLock("transfer 7") }
        assertEquals("$mutex is not idle\n  holders: 1, owner transfer 7", messageOf { mutex.shouldBeIdle() })
        val lock = ReadWriteLock()
        lock.tryLockRead("r1")
        lock.tryLockRead()
        assertEquals("$lock is not idle\n  holders: 2, owner r1", messageOf { lock.shouldBeIdle() })
    }

    @Test
    fun closed_isSeenOfAllThatCanBeClosed() = runTest {
        val scheduler = TaskScheduler(backgroundScope, 1)
        val limiter = RateLimiter.tokenBucket(1 per 1.days)
        val semaphore = Semaphore(1)
        val channel = Channel<Int>()
        val breaker = CircuitBreaker().also { it.trip() }
        val sources = listOf(scheduler, limiter, semaphore, channel, breaker)
        for (source in sources) assertEquals("$source is not closed", messageOf { source.shouldBeClosed() })
        scheduler.close()
        limiter.close()
        semaphore.close()
        channel.close()
        breaker.reset()
        for (source in sources) BatonAssertions.assertClosed(source.shouldBeClosed())
        val refusal = assertThrows<IllegalArgumentException> { Mutex().shouldBeClosed() }
        assertEquals("Mutex (free) cannot be closed", refusal.message)
    }

    @Test
    fun misuse_isRefused() {
        val mutex = Mutex()
        for (wrong in listOf<() -> Any>({ mutex shouldHaveWaiters -1 }, { mutex shouldHaveInUse -1 })) {
            val refusal = assertThrows<IllegalArgumentException> { wrong() }
            assertEquals("expected = -1, must be at least 0", refusal.message)
        }
        val refusal = assertThrows<IllegalArgumentException> { BatonAssertions.assertIdle("text") }
        assertEquals(
            "text, a java.lang.String, is not Monitored: pass an object of Baton, such as a baton.sync.Semaphore",
            refusal.message,
        )
    }

    companion object {
        private suspend fun withPermit(semaphore: Semaphore) {
            semaphore.acquire(2)
            try {
                awaitCancellation()
            } finally {
                semaphore.release(2)
            }
        }

        @JvmStatic
        fun cases(): List<Case> {
            val semaphore = Semaphore(3, name = "uplink")
            val mutex = Mutex()
            val lock = ReadWriteLock()
            val channel = Channel<Int>(1)
            val group = WaitGroup()
            val barrier = Barrier(2)
            val latch = Latch(1)
            val condition = mutex.newCondition()
            val limiter = RateLimiter.tokenBucket(1 per 1.days)
            val breaker = CircuitBreaker()
            val batch = BatchProcessor()
            val waiter = "callers waiting: 1, waiter"
            val unknown = " (the holder is unknown: -Dbaton.deadlocks=true records it)"
            return listOf(
                Case(
                    semaphore,
                    "permits held: 2 (holders are recorded of one permit alone: try Semaphore(1))",
                    waiter,
                    { withPermit(semaphore) },
                ) {
                    semaphore.acquire(2)
                },
                Case(mutex, "holders: 1$unknown", waiter, { mutex.withLock { awaitCancellation() } }) { mutex.lock() },
                Case(lock, "holders: 1$unknown", waiter, { lock.lockWrite().also { hold { lock.unlockWrite() } } }) {
                    lock.lockRead()
                },
                Case(
                    channel,
                    "elements not received: 1",
                    waiter,
                    { channel.send(1).also { hold { channel.tryReceive() } } },
                ) {
                    channel.send(2)
                },
                Case(group, "pieces of work not done: 1", waiter, { group.add().also { hold { group.done() } } }) {
                    group.await()
                },
                Case(barrier, null, waiter) { barrier.arrive() },
                Case(latch, null, waiter) { latch.await() },
                Case(condition, null, waiter) { mutex.withLock { condition.await() } },
                Case(limiter, null, waiter, { limiter.acquire() }) { limiter.acquire() },
                Case(breaker, null, waiter, { breaker.trip() }) { breaker.awaitClosed() },
            )
        }

        private suspend fun hold(release: () -> Unit) {
            try {
                awaitCancellation()
            } finally {
                release()
            }
        }
    }
}
