package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.TaskScheduler
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Runs that end in unusual ways: no entry is lost, and none returns. */
class RunEndTest {
    private val store = FaultyStore()

    @Test
    fun action_whoseChildFails_isReportedAndRunsAgain() = scheduleTest {
        val schedule = started {
            CoroutineScope(currentCoroutineContext()).async { throw IOException("child") }.await()
        }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(25.seconds)
        assertEquals(listOf(10L, 20L), times)
        assertEquals(listOf("a", "a"), failures.map { it.first })
    }

    @Test
    fun action_thatCancelsItsJob_runsAgain() = scheduleTest {
        val schedule =
            started(config(overlap = Overlap.QUEUE_ONE)) {
                currentCoroutineContext().cancel()
                delay(1.seconds)
            }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        schedule.put("b", Trigger.at(Instant.ofEpochSecond(5)))
        pass(25.seconds)
        assertEquals(listOf(10L, 20L), timesOf("a"))
        assertEquals(2, schedule.size, "the one-time entry has failed, and is listed")
    }

    @Test
    fun clock_thatFailsAtTheEndOfARun_keepsTheRunThatWaits() = scheduleTest {
        lateinit var schedule: Schedule<String>
        schedule = started {
            if (runs.size == 1) schedule.triggerNow("a")
            delay(1.seconds)
            if (runs.size == 1) clockFailures = 1
        }
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        pass(25.seconds)
        assertEquals(listOf(10L, 10L, 22L), times)
        assertEquals(listOf<Any>("a" to "clock failure 1"), failures.map { it.first to it.second.message })
        assertEquals(listOf(3L, 1L, 0L), schedule.metrics.run { listOf(fired, failed, running.toLong()) })
    }

    @Test
    fun run_refusedByTheDispatcher_isReportedAndRunsAgain() = runBlocking {
        var isFull = false // read by this thread alone
        val executor = Executor { command -> if (isFull) throw RejectedExecutionException("full") else command.run() }
        val table = EntryTable<String>(1)
        val reported = CompletableDeferred<Any>()
        val config = ScheduleConfig(onFailure = { key, _ -> reported.complete(key) })
        val core = ScheduleCore(config, table, "test")
        val fires = FireCore(config, table)
        val scope = CoroutineScope(executor.asCoroutineDispatcher() + Job())
        val tasks = TaskScheduler(scope, 1)
        val loop =
            FireLoop(
                config,
                core,
                fires,
                LoopTimes(config, table, core.clock),
                tasks,
                scope.coroutineContext[Job]!!,
                { false },
                "test",
            ) {}
        core.put("a", Trigger.every(1.seconds, Instant.EPOCH), Priority.NORMAL)
        isFull = true
        loop.fireAll(core.now() + 1_000_000)
        assertEquals("a", reported.await())
        assertNull(table.step { table.runs[table.keys.find("a")] })
        assertEquals(1L, fires.counts { counts, _ -> counts.failed })
        scope.cancel()
    }

    @Test
    fun removal_afterAWriteThatWasNotConfirmed_isWritten() = scheduleTest {
        val schedule = started(config(flushEvery = 1.seconds), store)
        store.failsToConfirm = true
        schedule.put("a", Trigger.every(1.seconds))
        pass(2.seconds)
        assertEquals(1, store.inside.load(0).size)
        schedule.remove("a")
        store.failsToConfirm = false
        pass(60.seconds)
        assertEquals(0, store.inside.load(0).size)
    }

    @Test
    fun namedRun_notBegunAtTheEnd_isDueAgain() = scheduleTest {
        val nightly = Trigger.named("nightly") { after -> after.plusSeconds(100) }
        val config = config(triggers = mapOf("nightly" to nightly), grace = 1.seconds)
        val schedule = started(config, store, maxConcurrency = 1) { awaitCancellation() }
        schedule.put("blocker", Trigger.at(Instant.EPOCH))
        schedule.put("a", nightly)
        pass(150.seconds)
        assertEquals(Instant.ofEpochSecond(200), schedule.nextDue("a"))
        schedule.shutdown()
        assertEquals(Instant.ofEpochSecond(100), store.inside.load(0).single { it.key == "a" }.nextDue)
    }

    @Test
    fun namedRun_thatHasEnded_isWrittenOnceWithTheNextTime() = scheduleTest {
        val nightly = Trigger.named("nightly") { after -> after.plusSeconds(100) }
        val schedule = started(config(triggers = mapOf("nightly" to nightly)), store) { delay(20.seconds) }
        schedule.put("a", nightly)
        pass(110.seconds)
        assertEquals(Instant.ofEpochSecond(100), store.inside.load(0).single().nextDue)
        pass(20.seconds)
        assertEquals(Instant.ofEpochSecond(200), store.inside.load(0).single().nextDue)
        assertEquals(2, store.batches.size)
    }

    @Test
    fun run_thatEndsAfterTheGrace_isWritten() = scheduleTest {
        val schedule = started(config(grace = 5.seconds), store) { withContext(NonCancellable) { delay(8.seconds) } }
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(20)))
        pass(21.seconds)
        assertNotNull(store.inside.load(0).singleOrNull())
        schedule.shutdown()
        assertEquals(0, store.inside.load(0).size)
    }

    @Test
    fun namedRuns_thatNeverPause_moveTheStoredTimeAsTheyEnd() {
        val often = Trigger.named("often") { after -> after.plusSeconds(100) }
        for ((overlap, unended) in mapOf(Overlap.QUEUE_ONE to 800L, Overlap.ALLOW to 900L)) scheduleTest {
            val store = FaultyStore()
            val config = config(overlap = overlap, triggers = mapOf("often" to often))
            val schedule = started(config, store) { delay(130.seconds) }
            schedule.put("a", often)
            pass(1000.seconds)
            assertEquals(Instant.ofEpochSecond(unended), store.inside.load(0).single().nextDue)
        }
    }

    @Test
    fun namedRuns_thatCatchUp_moveTheStoredTimeAsTheyEnd() = scheduleTest {
        val often = Trigger.named("often") { after -> after.plusSeconds(100) }
        val schedule =
            schedule(config(Misfire.CatchUp(8), triggers = mapOf("often" to often)), store) { delay(20.seconds) }
        schedule.put("a", often)
        pass(810.seconds)
        start(schedule)
        pass(37.seconds)
        assertEquals(listOf(100L, 200L), times)
        assertEquals(Instant.ofEpochSecond(200), store.inside.load(0).single().nextDue)
    }

    @Test
    fun dispatcher_shutDownBeforeTheSchedule_changesAreWrittenAndTheStoreIsClosed() {
        for (executor in listOf(Executors.newSingleThreadExecutor(), Executors.newScheduledThreadPool(1))) runBlocking {
            val store = FaultyStore()
            val config = ScheduleConfig(flushEvery = Duration.INFINITE, onFailure = { _, _ -> })
            val schedule = Schedule(store, 1, "test", config) {}
            val running = launch(executor.asCoroutineDispatcher() + SupervisorJob()) { schedule.run() }
            schedule.resync()
            executor.shutdown()
            schedule.put("a", Trigger.every(1.seconds))
            withTimeout(120.seconds) { running.join() }
            assertEquals(listOf("a"), store.inside.load(0).map { it.key })
            assertEquals(1, store.closed)
            assertThrows(IllegalStateException::class.java) { schedule.remove("a") }
        }
    }
}
