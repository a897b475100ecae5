package baton.monitoring

import baton.batch.BatchProcessor
import baton.batch.ConcurrencyConfig
import baton.channels.Channel
import baton.parallel.MemoryGate
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.RetryBudget
import baton.resilience.per
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.WaitOrder
import baton.sync.withLock
import kotlin.time.Duration
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.MethodSource

/** The usage that each type tells. */
class UsageTest {
    /** A [source] in use as a whole, for which [wait] waits; null if there is nothing to wait for. */
    class Case(
        val source: Monitored,
        val name: String?,
        val inUse: Long,
        val capacity: Long,
        val kind: Alert.Kind?,
        val wait: (suspend () -> Unit)?,
    ) {
        override fun toString() = source.javaClass.simpleName
    }

    @Test
    fun usage_ofASemaphoreWithoutPermits_isNoShareAndItsWaiters() = runTest {
        val semaphore = Semaphore(2, acquired = 2)
        semaphore.resize(0)
        val waiter = launch { semaphore.acquire() }
        delay(1.milliseconds)
        val usage = semaphore.usage()
        assertEquals(listOf<Number>(0L, 0L, 1, 0.0), usage.run { listOf(inUse, capacity, waiting, share) })
        waiter.cancel()
    }

    @ParameterizedTest
    @MethodSource("cases")
    fun usage_ofEachType_isWhatIsInUseAndTheWaiters(case: Case) {
        runTest {
            val source = case.source
            assertEquals(case.name, source.name)
            val before = source.usage()
            assertEquals(listOf(case.inUse, case.capacity), listOf(before.inUse, before.capacity))
            assertEquals(case.kind, before.bounds?.kind)
            assertNoWaiters(before)
            val wait = case.wait ?: return@runTest
            val waiters = List(12) { launch(CoroutineName("w$it")) { wait() } }
            delay(1.milliseconds)
            val during = source.usage()
            assertEquals(listOf(12, 12), listOf(during.waiting, during.peakWaiting))
            assertEquals(List(10) { "w$it" }, during.waiters)
            assertTrue(during.longestWait < 1.days)
            waiters.forEach { it.cancel() }
            waiters.forEach { it.join() }
            assertEquals(listOf(12, 12), List(2) { source.usage().peakWaiting }, "the peak of all time")
            assertNoWaiters(source.usage())
        }
    }

    private fun assertNoWaiters(usage: Usage) {
        assertEquals(0, usage.waiting)
        assertEquals(Duration.ZERO, usage.longestWait)
        assertEquals(emptyList<String>(), usage.waiters)
    }

    @Test
    fun batchProcessor_atWork_countsItsItems() {
        runTest {
            val batch = BatchProcessor(ConcurrencyConfig(maxConcurrentTasks = 4), name = "import")
            val call = launch { batch.process(List(10) { it }) { awaitCancellation() } }
            delay(1.milliseconds)
            assertEquals(listOf("import", 4L, 4L), batch.usage().let { listOf(batch.name, it.inUse, it.capacity) })
            assertEquals(0.7, batch.usage().bounds?.raiseAt)
            assertEquals(0.6, batch.usage().bounds!!.clearBelow, 1e-9)
            call.cancel()
            call.join()
            assertEquals(0, batch.usage().inUse)
        }
    }

    @Test
    fun batchProcessor_hasTheBoundsOfItsConfiguration() {
        for ((percent, clearBelow) in listOf(1 to 0.005, 10 to 0.05, 11 to 0.01, 80 to 0.7, 100 to 0.9)) {
            val monitoring = ConcurrencyConfig.Monitoring(alertThresholdPercent = percent)
            val bounds = BatchProcessor(ConcurrencyConfig(monitoring = monitoring)).usage().bounds!!
            assertEquals(percent / 100.0, bounds.raiseAt)
            assertEquals(clearBelow, bounds.clearBelow, 1e-9)
        }
    }

    @Test
    fun batchProcessor_withoutMetrics_countsNothing() {
        runTest {
            val batch =
                BatchProcessor(ConcurrencyConfig(monitoring = ConcurrencyConfig.Monitoring(enableMetrics = false)))
            val call = launch { batch.process(List(10) { it }) { awaitCancellation() } }
            delay(1.milliseconds)
            assertEquals(0, batch.usage().inUse)
            call.cancel()
        }
    }

    @Test
    fun semaphore_withADebt_isInUseBeyondItsCapacity() {
        val semaphore = Semaphore(10, acquired = 10)
        semaphore.resize(5)
        assertEquals(5, semaphore.usage().capacity)
        assertEquals(1.0, semaphore.usage().share)
    }

    @Test
    fun readWriteLock_byReaders_isInUse() {
        runTest {
            val lock = ReadWriteLock()
            assertEquals(0, lock.usage().inUse)
            lock.lockRead()
            lock.lockRead()
            assertEquals(1, lock.usage().inUse)
            val names = listOf("reader", "writer", "upgradable")
            launch(CoroutineName("writer")) { lock.lockWrite() }.also { delay(1.milliseconds) }
            launch(CoroutineName("reader")) { lock.lockRead() }.also { delay(1.milliseconds) }
            launch(CoroutineName("upgradable")) { lock.lockUpgradable() }.also { delay(1.milliseconds) }
            assertEquals(names.toSet(), lock.usage().waiters.toSet())
            assertEquals(3, lock.usage().waiting)
            testScheduler.advanceUntilIdle()
            cancelChildren()
        }
    }

    @Test
    fun barrier_whileItsActionRuns_countsThePartiesOfBothGenerations() {
        runTest {
            val barrier = Barrier(2) { delay(1.days) }
            val parties = List(3) { launch(CoroutineName("p$it")) { barrier.arrive() } }
            delay(1.milliseconds)
            assertEquals(listOf("p0", "p2"), barrier.usage().waiters, "p1 runs the action")
            assertEquals(listOf<Number>(2L, 2L, 2), barrier.usage().run { listOf(inUse, capacity, peakWaiting) })
            parties.forEach { it.cancel() }
        }
    }

    @Test
    fun latch_thatIsOpen_isNotInUse() {
        val latch = Latch(2)
        latch.countDown()
        assertEquals(listOf(1L, 2L), latch.usage().run { listOf(inUse, capacity) })
        latch.countDown()
        assertEquals(listOf(0L, 2L), latch.usage().run { listOf(inUse, capacity) })
        assertEquals(0.0, Latch(0).usage().share)
    }

    @Test
    fun condition_whoseWaiterIsSignalled_leavesItToTheMutex() {
        runTest {
            val mutex = Mutex()
            val condition = mutex.newCondition()
            launch { mutex.withLock(owner = "account 7") { condition.await() } }
            launch(CoroutineName("late")) { mutex.withLock { condition.await() } }
            delay(1.milliseconds)
            assertEquals(listOf("account 7", "late"), condition.usage().waiters)
            mutex.withLock {
                condition.signal()
                assertEquals(listOf("late"), condition.usage().waiters)
                assertEquals(listOf("account 7"), mutex.usage().waiters)
            }
            assertEquals(2, condition.usage().peakWaiting)
            cancelChildren()
        }
    }

    @Test
    fun channel_whoseReceiversWait_hasNoWaiters() {
        runTest {
            val channel = Channel<Int>(2)
            val receiver = launch { channel.receive() }
            delay(1.milliseconds)
            assertEquals(1, channel.waiting)
            assertNoWaiters(channel.usage())
            receiver.cancel()
            channel.send(1)
            assertEquals(0.5, channel.usage().share)
        }
    }

    @Test
    fun channel_withoutCapacity_hasAShare() {
        assertEquals(0.0, Channel<Int>().usage().share)
        assertEquals(Int.MAX_VALUE.toLong(), Channel<Int>(Channel.UNLIMITED).usage().capacity)
    }

    @Test
    fun breaker_thatIsClosed_isNotInUse() {
        val breaker = CircuitBreaker()
        assertEquals(0, breaker.usage().inUse)
        breaker.trip()
        assertEquals(mapOf("rejected" to 0L), breaker.usage().totals)
    }

    @Test
    fun waiters_byPriority_areNamedMostUrgentFirst() {
        runTest {
            val semaphore = Semaphore(1, acquired = 1, order = WaitOrder.PRIORITY)
            launch(CoroutineName("low") + baton.Priority.LOW) { semaphore.acquire() }
            launch(CoroutineName("high") + baton.Priority.HIGH) { semaphore.acquire() }
            delay(1.milliseconds)
            assertEquals(listOf("high", "low"), semaphore.usage().waiters)
            cancelChildren()
        }
    }

    @Test
    fun waiters_withoutANameOfTheirCoroutine_haveThatOfTheirOwner() {
        runTest {
            val mutex = Mutex(locked = true)
            launch { mutex.lock(owner = "account 7") }
            launch(CoroutineName("transfer")) { mutex.lock(owner = "account 8") }
            launch { mutex.lock() }
            launch { select { mutex.onLock(null) {} } }
            val hostile =
                object {
                    override fun toString(): String = throw IllegalStateException()
                }
            launch { mutex.lock(hostile) }
            delay(1.milliseconds)
            val names = mutex.usage().waiters
            assertEquals(listOf("account 7", "transfer"), names.take(2))
            assertTrue("StandaloneCoroutine{Active}" in names[2], names[2])
            assertEquals("a select", names[3])
            assertTrue(names[4].startsWith(hostile.javaClass.name), names[4])
            cancelChildren()
        }
    }

    private fun TestScope.cancelChildren() {
        coroutineContext[Job]!!.children.forEach { it.cancel() }
    }

    companion object {
        @JvmStatic
        fun cases(): List<Case> {
            val semaphore = Semaphore(3, acquired = 3, name = "uplink")
            val unfair = Semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            val mutex = Mutex(locked = true, name = "account")
            val lock = ReadWriteLock(name = "cache").also { it.tryLockWrite() }
            val channel = Channel<Int>(2, name = "pages").also { full -> repeat(2) { full.trySend(it) } }
            val places = Channel<Int>(2).also { full -> repeat(2) { full.trySend(it) } }
            val bucket = RateLimiter.tokenBucket(5 per 1.days, name = "api").also { it.tryAcquire(5) }
            val leaky = RateLimiter.leakyBucket(1 per 1.days).also { it.tryAcquire() }
            val breaker = CircuitBreaker(name = "store").also { it.trip() }
            val barrier = Barrier(parties = 13, name = "phase")
            val latch = Latch(count = 3, name = "ready")
            val group = WaitGroup("work").also { it.add(2) }
            val condition = Mutex().newCondition("full")
            val gate = MemoryGate(maxBytes = 100, usage = { 60 })
            return listOf(
                Case(semaphore, "uplink", 3, 3, null) { semaphore.acquire(2) },
                Case(unfair, null, 1, 1, null) { unfair.acquire() },
                Case(mutex, "account", 1, 1, null) { mutex.lock() },
                Case(lock, "cache", 1, 1, null) { lock.lockRead() },
                Case(ReadWriteLock().also { it.tryLockRead() }, null, 1, 1, null, null),
                Case(barrier, "phase", 0, 13, Alert.Kind.UTILISATION) { barrier.arrive() },
                Case(latch, "ready", 3, 3, Alert.Kind.UTILISATION) { latch.await() },
                Case(group, "work", 2, Int.MAX_VALUE.toLong(), null) { group.await() },
                Case(condition, "full", 0, 0, null) { condition.mutex.withLock { condition.await() } },
                Case(channel, "pages", 2, 2, null) { channel.send(1) },
                Case(places, null, 2, 2, null) { places.reserve() },
                Case(bucket, "api", 5, 5, null) { bucket.acquire() },
                Case(leaky, null, 1, 1, null) { leaky.acquire() },
                Case(breaker, "store", 1, 1, Alert.Kind.BREAKER_OPEN) { breaker.awaitClosed() },
                Case(gate, null, 60, 100, Alert.Kind.HEAP, null),
                Case(RetryBudget(burst = 7), null, 0, 7, Alert.Kind.RETRY_STORM, null),
                Case(BatchProcessor(), null, 0, 10, Alert.Kind.UTILISATION, null),
            )
        }
    }
}
