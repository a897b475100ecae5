package users

import baton.Priority
import baton.batch.BatchProcessor
import baton.batch.ConcurrencyConfig
import baton.channels.Channel
import baton.channels.consumeEach
import baton.channels.produce
import baton.monitoring.Monitor
import baton.parallel.Outcome
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import baton.parallel.processInChunks
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.RateLimiter
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.resilience.retry
import baton.resilience.withPermit
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import baton.scheduler.prioritized
import baton.scheduler.withPriority
import baton.shared.SharedRegion
import baton.shared.withLock
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import baton.tasks.cancellableTask
import java.io.IOException
import java.nio.file.Path
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.io.TempDir

/** A program of a user, as the user's compiler sees the library. */
@Timeout(120)
class ProgramTest {
    private fun run(block: suspend CoroutineScope.() -> Unit) = runBlocking(Dispatchers.Default, block)

    @Test
    fun locks_excludeOneAnother() = run {
        val mutex = Mutex(name = "account")
        val semaphore = Semaphore(2)
        val lock = ReadWriteLock()
        var sum = 0
        List(10) { launch { semaphore.withPermit { mutex.withLock { lock.withWrite { sum++ } } } } }
            .forEach { it.join() }
        assertEquals(10, lock.withRead { sum })
        semaphore.acquire(2)
        assertFalse(semaphore.tryAcquire(1, timeout = 5.milliseconds))
    }

    @Test
    fun condition_latch_waitGroup_andBarrier_letWaitersGo() = run {
        val mutex = Mutex()
        val changed = mutex.newCondition()
        val latch = Latch(1)
        val group = WaitGroup()
        val barrier = Barrier(2)
        group.add(2)
        launch(start = CoroutineStart.UNDISPATCHED) {
            mutex.withLock { changed.await() }
            group.done()
        }
        mutex.withLock { changed.signal() }
        launch {
            barrier.arrive()
            latch.countDown()
            group.done()
        }
        barrier.arrive()
        latch.await()
        group.await()
        assertEquals(0, group.count)
    }

    @Test
    fun select_picksTheOneThatIsFree_andWithdrawsTheOthers() = run {
        val held = Mutex(locked = true)
        val free = Semaphore(1)
        val channel = Channel<String>(1)
        val first =
            select<String> {
                held.onLock(null) { "lock" }
                channel.onReceive { it }
                free.onAcquire { "permit" }
            }
        assertEquals("permit", first)
        channel.send("element")
        assertEquals(
            "element",
            select<String> {
                held.onLock(null) { "lock" }
                channel.onReceive { it }
            },
        )
        assertEquals(0, held.waiting)
    }

    @Test
    fun select_cancelledAfterItHasWon_passesTheGrantOn() = run {
        val queue = ArrayDeque<Runnable>()
        val steps =
            object : CoroutineDispatcher() {
                override fun dispatch(context: CoroutineContext, block: Runnable) {
                    queue += block
                }
            }
        val semaphore = Semaphore(1, acquired = 1)
        var ran = false
        val caller = launch(steps) { select<Unit> { semaphore.onAcquire { ran = true } } }
        queue.removeFirst().run()
        semaphore.release()
        caller.cancel()
        while (queue.isNotEmpty()) queue.removeFirst().run()
        assertTrue(semaphore.tryAcquire())
        assertFalse(ran)
    }

    @Test
    fun channels_carryElements() = run {
        val numbers = produce(capacity = 2) { repeat(5) { send(it) } }
        val seen = mutableListOf<Int>()
        numbers.consumeEach { seen += it }
        assertEquals(listOf(0, 1, 2, 3, 4), seen)
    }

    @Test
    fun maps_boundTheirConcurrency() = run {
        assertEquals(listOf(2, 4, 6), listOf(1, 2, 3).mapLimit(2) { it * 2 })
        assertEquals(listOf(2, 4, 6), flowOf(1, 2, 3).mapLimit(2) { it * 2 }.toList())
        val outcomes = listOf(1, 2).mapSettled(2) { if (it == 1) throw IOException("one") else it }
        assertEquals(listOf(true, false), outcomes.map { it is Outcome.Failure })
        assertEquals(6, (1..6).processInChunks(size = 4, limit = 2) { it }.toList().flatten().size)
        val report = BatchProcessor(ConcurrencyConfig(maxConcurrentTasks = 2)).process(listOf(1, 2)) { it }
        assertEquals(2, report.succeeded)
    }

    @Test
    fun retry_aroundABreaker_aroundALimiter() = run {
        val limiter = RateLimiter.tokenBucket(100 per 1.minutes)
        val breaker = CircuitBreaker(CircuitBreakerConfig(minimumCalls = 2), "upstream")
        var calls = 0
        val result =
            retry(RetryPolicy(maxAttempts = 3)) {
                breaker.protect { limiter.withPermit { if (++calls < 2) throw IOException("flaky") else "ok" } }
            }
        assertEquals("ok", result)
        breaker.trip()
        assertEquals(BreakerState.FORCED_OPEN, breaker.state)
        val refused = runCatching { breaker.protect { calls++ } }
        assertTrue(refused.exceptionOrNull() is CircuitOpenException)
        assertEquals(2, calls)
    }

    @Test
    fun task_cancelled_runsItsTeardowns() = run {
        val torn = CompletableDeferred<Unit>()
        val begun = CompletableDeferred<Unit>()
        val task =
            CoroutineScope(Job()).cancellableTask {
                onTeardown { torn.complete(Unit) }
                begun.complete(Unit)
                awaitCancellation()
            }
        begun.await()
        task.cancel()
        torn.await()
        assertTrue(task.isCancelled)
        assertEquals(3, cancellableTask { 1 }.then { it + 2 }.await())
    }

    @Test
    fun dispatcherAndScheduler_runByPriority() = run {
        val dispatcher = Dispatchers.Default.prioritized(2)
        assertEquals(1, withContext(dispatcher + Priority.LOW) { withPriority(Priority.HIGH) { 1 } })
        val scheduler = TaskScheduler(this, 1)
        val monitor = Monitor(this, every = 1.minutes)
        monitor.watch(scheduler, "tasks").use {
            assertEquals(2, scheduler.schedule(Priority.HIGH) { 2 }.await())
            assertEquals(3, scheduler.run { 3 })
        }
        monitor.close()
        scheduler.drain()
    }

    @Test
    fun schedule_withAJournal_runsAgainAndAgain(@TempDir dir: Path) = run {
        val runs = Channel<String>(10)
        val store = JournalScheduleStore(dir.resolve("journal"), KeyCodec.STRING)
        val schedule = Schedule<String>(store, maxConcurrency = 2) { due -> runs.trySend(due.key) }
        val running = launch { schedule.run() }
        schedule.put("a", Trigger.every(1.milliseconds))
        repeat(3) { assertEquals("a", runs.receive()) }
        schedule.shutdown()
        running.join()
    }

    @Test
    fun region_sharesAMutex(@TempDir dir: Path) = run {
        SharedRegion.open(dir.resolve("region")).use { region ->
            val held = async { region.mutex("m").withLock { 1 } }
            assertEquals(1, held.await())
        }
    }
}
