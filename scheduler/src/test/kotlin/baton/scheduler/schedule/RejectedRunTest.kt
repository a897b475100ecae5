package baton.scheduler.schedule

import baton.BatonClock
import baton.hostile.RefusingExecutor
import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import java.time.temporal.ChronoUnit
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/** A run of a single time, which the executor rejects: it was lost. */
@Timeout(120)
class RejectedRunTest {
    private val executor = RefusingExecutor()
    private val scope = CoroutineScope(executor.asCoroutineDispatcher() + SupervisorJob())
    private val store = InMemoryScheduleStore<String>()
    private val failures = LinkedBlockingQueue<Pair<Any, Throwable>>()

    /** The threads of the runs. */
    private val runs = LinkedBlockingQueue<String>()
    private val due = Instant.now().truncatedTo(ChronoUnit.MILLIS).plusMillis(100)

    /** The executor rejects from this due time on, which the loop has just found to be past. */
    private val rejectsFrom = AtomicReference<Instant?>(due)

    private fun now(): Instant {
        val now = Instant.now()
        val isInTheLoop = Thread.currentThread().name.startsWith("refusing")
        if (isInTheLoop && now >= due && rejectsFrom.compareAndSet(due, null)) executor.refuse(Int.MAX_VALUE)
        return now
    }

    private fun schedule() =
        Schedule(
            store,
            2,
            "test",
            ScheduleConfig(
                flushEvery = 1.hours,
                grace = 100.milliseconds,
                onFailure = { key, failure -> failures += key to failure },
                clock = BatonClock.of(::now),
            ),
        ) {
            runs += Thread.currentThread().name
        }

    private val schedule = schedule()
    private val end = CompletableDeferred<Throwable?>()

    /** Returns when the executor has rejected the run. */
    private fun rejectTheRun() {
        val run = scope.async { schedule.run() }
        run.invokeOnCompletion { end.complete(it) }
        schedule.put("once", Trigger.at(due))
        // One for the run, and the others as it, or the loop, is offered again.
        while (executor.refused.get() < 5) assertFalse(end.isCompleted)
        val (key, failure) = failures.poll(120, TimeUnit.SECONDS)!!
        assertTrue(key === schedule && failure is RejectedExecutionException) { "$key: $failure" }
        assertEquals(1, schedule.usage().inUse)
        assertNull(runs.peek())
    }

    private fun assertDueAtTheNextStart() = runBlocking {
        assertEquals(listOf("once" to due), store.load(0).map { it.key to it.nextDue })
        assertEquals(listOf(0L, 0L), schedule.metrics.run { listOf(fired, failed) })
        assertTrue(failures.none { it.first == "once" }) { "$failures" }
        assertNull(runs.peek())
        val next = launch(Dispatchers.Default) { schedule().run() }
        assertTrue(runs.poll(120, TimeUnit.SECONDS) != null)
        next.cancel()
    }

    @AfterEach
    fun shutDown() {
        scope.cancel()
        executor.shutdownNow()
    }

    @Test
    fun executor_thatAcceptsAgain_runsItOnce() {
        rejectTheRun()
        executor.refuse(0)
        assertTrue(runs.poll(120, TimeUnit.SECONDS)!!.startsWith("refusing"))
        while (schedule.size > 0) assertFalse(end.isCompleted)
        assertTrue(failures.all { it.first === schedule }) { "$failures" }
        assertEquals(listOf(1L, 0L), schedule.metrics.run { listOf(fired, failed) })
        assertNull(runs.peek())
    }

    @Test
    fun entry_thatIsRemovedMeanwhile_doesNotRun() {
        rejectTheRun()
        schedule.remove("once")
        executor.refuse(0)
        while (schedule.usage().inUse > 0) assertFalse(end.isCompleted)
        assertNull(runs.peek())
        assertTrue(failures.all { it.first === schedule }) { "$failures" }
    }

    @Test
    fun schedule_thatEndsMeanwhile_leavesItDue() {
        rejectTheRun()
        runBlocking { withTimeout(100_000) { schedule.shutdown() } }
        assertDueAtTheNextStart()
    }

    @Test
    fun executor_thatIsShutDown_leavesItDueAndIsHeard() {
        rejectTheRun()
        executor.shutdown()
        runBlocking { assertTrue(withTimeout(100_000) { end.await() } is CancellationException) }
        assertTrue(failures.any { it.first === schedule && "was shut down" in it.second.message!! }) { "$failures" }
        assertDueAtTheNextStart()
    }

    @Test
    fun secondAttempt_thatIsRejected_isOfferedAgain() {
        rejectsFrom.set(null)
        val begun = AtomicInteger()
        val policy =
            RetryPolicy(
                maxAttempts = 2,
                backoff = Backoff.constant(10.milliseconds),
                onRetry = { executor.refuse(Int.MAX_VALUE) },
            )
        val config = ScheduleConfig(onFailure = { key, failure -> failures += key to failure }, retry = { policy })
        val schedule = Schedule<String>(config = config) { if (begun.incrementAndGet() == 1) throw IOException() }
        scope.launch { schedule.run() }
        schedule.put("once", Trigger.at(due))
        while (executor.refused.get() < 5) assertTrue(begun.get() < 2)
        assertEquals(listOf(1L, 0L, 1L), schedule.metrics.run { listOf(fired, succeeded, retried) })
        executor.refuse(0)
        while (schedule.size > 0) assertTrue(begun.get() <= 2)
        assertEquals(listOf(2L, 1L, 1L), schedule.metrics.run { listOf(fired, succeeded, retried) })
        assertTrue(failures.all { it.first === schedule }) { "$failures" }
    }
}
