package baton.interop.schedule

import baton.Priority
import baton.clockWith
import baton.scheduler.Due
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.Misfire
import baton.scheduler.Overlap
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import java.time.InstantSource
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The behaviour of a schedule through each of its APIs, in virtual time from the epoch on. */
abstract class ScheduleContract internal constructor(private val create: (ScheduleSetup) -> ScheduleFace) {
    private class World(val scope: TestScope, private val create: (ScheduleSetup) -> ScheduleFace) : InstantSource {
        val runs = ArrayList<Due<String>>()
        val failures = ArrayList<String>()
        val faces = ArrayList<ScheduleFace>()

        override fun instant(): Instant = Instant.ofEpochMilli(scope.currentTime)

        fun start(
            store: ScheduleStore<String> = InMemoryScheduleStore(),
            misfire: Misfire = Misfire.FireOnce,
            overlap: Overlap = Overlap.SKIP,
            triggers: Map<String, Trigger> = emptyMap(),
            maxConcurrency: Int = 200,
            runTimeout: Duration = Duration.INFINITE,
            action: suspend (Due<String>) -> Unit = {},
        ): ScheduleFace {
            val config =
                ScheduleConfig(
                    misfire,
                    overlap,
                    triggers = triggers,
                    onFailure = { key, failure -> failures += "$key: ${failure.message}" },
                    clock = scope.clockWith(this),
                    runTimeout = { runTimeout },
                )
            val recorded: suspend (Due<String>) -> Unit = { due ->
                runs += due
                action(due)
            }
            val dispatcher = StandardTestDispatcher(scope.testScheduler)
            val face = create(ScheduleSetup(dispatcher, store, maxConcurrency, config, recorded))
            faces += face
            scope.runCurrent()
            return face
        }

        fun pass(time: Duration) {
            scope.advanceTimeBy(time)
            scope.runCurrent()
        }

        /** The keys of the runs, and when they were due, in seconds. */
        val times
            get() = runs.map { it.key + it.at.epochSecond }
    }

    private fun scheduleTest(block: suspend World.() -> Unit) = runTest {
        val world = World(this, create)
        world.block()
        for (face in world.faces) runCatching { face.shutdown() }
    }

    private val every10 = Trigger.every(10.seconds, Instant.EPOCH)

    @Test
    fun put_triggersOfEachKind_fireAtTheirTimes() = scheduleTest {
        val schedule = start()
        pass(5.seconds)
        schedule.put("every", Trigger.every(20.seconds, Instant.EPOCH))
        schedule.put("delay", Trigger.fixedDelay(30.seconds))
        schedule.put("at", Trigger.at(Instant.ofEpochSecond(50)), Priority.HIGH)
        schedule.put("own", { after -> after.plusSeconds(25) })
        assertEquals(4, schedule.size)
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("every"))
        pass(60.seconds)
        assertEquals(listOf("every20", "own30", "delay35", "every40", "at50", "own55", "every60", "delay65"), times)
        assertEquals(Priority.HIGH, runs.first { it.key == "at" }.priority)
        assertEquals(3, schedule.size)
        assertEquals(8L, schedule.metrics.fired)
    }

    @Test
    fun runThatTakesTooLong_fails_andOneThatIsCancelledDoesNot() = scheduleTest {
        val schedule = start(runTimeout = 30.seconds) { awaitCancellation() }
        schedule.put("late", Trigger.fixedDelay(10.seconds))
        schedule.put("cancelled", Trigger.fixedDelay(10.seconds))
        pass(15.seconds)
        assertEquals(1, schedule.cancelRun("cancelled"))
        assertEquals(0, schedule.cancelRun("unknown"))
        schedule.remove("cancelled")
        pass(25.seconds)
        assertEquals(listOf("late: the run of 'late' took longer than 30s"), failures)
        val counts = schedule.metrics.run { listOf(fired, succeeded, failed, timedOut, cancelled, running.toLong()) }
        assertEquals(listOf(2L, 0L, 0L, 1L, 1L, 0L), counts)
    }

    @Test
    fun put_again_replacesTheTrigger() = scheduleTest {
        val schedule = start()
        schedule.put("a", every10)
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(25)))
        pass(1.minutes)
        assertEquals(listOf("a25"), times)
    }

    @Test
    fun remove_pause_resume_triggerNow_areInEffectAtOnce() = scheduleTest {
        val schedule = start()
        schedule.put("a", every10)
        assertTrue(schedule.pause("a"))
        assertNull(schedule.nextDue("a"))
        pass(15.seconds)
        assertEquals(0, runs.size)
        assertTrue(schedule.triggerNow("a"))
        pass(Duration.ZERO)
        assertEquals(listOf("a15"), times)
        assertTrue(schedule.resume("a"))
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("a"))
        assertTrue(schedule.remove("a"))
        for (edit in listOf(schedule::remove, schedule::pause, schedule::resume, schedule::triggerNow)) assertFalse(
            edit("a")
        )
        pass(1.minutes)
        assertEquals(1, runs.size)
        assertEquals(0, schedule.size)
    }

    @Test
    fun maxConcurrency_boundsTheRuns_mostUrgentFirst() = scheduleTest {
        val schedule = start(maxConcurrency = 1) { delay(1.seconds) }
        schedule.put("low", every10, Priority.LOW)
        schedule.put("normal", every10)
        schedule.put("high", every10, Priority.HIGH)
        pass(15.seconds)
        assertEquals(listOf("high10", "normal10", "low10"), times)
        assertEquals(listOf(0.seconds, 1.seconds, 2.seconds), runs.map { it.lag })
    }

    @Test
    fun overlap_whileTheRunGoesOn_isAsConfigured() {
        val expected =
            mapOf(
                Overlap.SKIP to listOf("a10", "a40"),
                Overlap.QUEUE_ONE to listOf("a10", "a20", "a40"),
                Overlap.ALLOW to listOf("a10", "a20", "a30", "a40", "a50"),
            )
        for (overlap in Overlap.entries) scheduleTest {
            val schedule = start(overlap = overlap) { delay(21.seconds) }
            schedule.put("a", every10)
            pass(54.seconds)
            assertEquals(expected[overlap], times, "$overlap")
        }
    }

    @Test
    fun misfire_afterAStandstill_isAsConfigured() {
        val trigger = Trigger { after -> after.plusSeconds(10) }
        val triggers = mapOf("own" to trigger)
        val expected =
            mapOf(
                Misfire.FireOnce to listOf("a10+2"),
                Misfire.Skip to listOf(),
                Misfire.CatchUp(2) to listOf("a10+1", "a20+0"),
            )
        for ((misfire, made) in expected) scheduleTest {
            val store = InMemoryScheduleStore<String>()
            val first = start(store, triggers = triggers)
            first.put("a", Trigger.named("own", trigger))
            first.shutdown()
            pass(35.seconds)
            start(store, misfire, triggers = triggers)
            pass(Duration.ZERO)
            assertEquals(made, runs.map { "${it.key}${it.at.epochSecond}+${it.missed}" })
        }
    }

    @Test
    fun action_thatFails_isReported_andTheEntryStays() = scheduleTest {
        val schedule = start { if (it.key == "a") error("bad") }
        schedule.put("a", every10)
        schedule.put("b", every10)
        pass(25.seconds)
        assertEquals(listOf("a10", "b10", "a20", "b20"), times.sortedBy { it.drop(1) })
        assertEquals(listOf("a: bad", "a: bad"), failures)
        assertEquals(2L, schedule.metrics.failed)
    }

    @Test
    fun flush_writes_andResync_readsWhatOthersHaveWritten() = scheduleTest {
        val store = InMemoryScheduleStore<String>()
        val schedule = start(store)
        schedule.put("a", every10, Priority.HIGH)
        assertEquals(1, schedule.metrics.dirty)
        schedule.flush()
        assertEquals(0, schedule.metrics.dirty)
        assertEquals(listOf("a" to Priority.HIGH), store.load(0).map { it.key to it.priority })
        store.apply(listOf(rowOf("b")))
        schedule.resync()
        assertEquals(2, schedule.size)
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("b"))
    }

    private fun rowOf(key: String) =
        ScheduleRow(key, "every PT20S from 1970-01-01T00:00:00Z", Priority.NORMAL, null, null, false, 0)

    @Test
    fun flush_ofAFailingStore_failsAsItDoes_andKeepsTheChanges() = scheduleTest {
        val schedule = start(FailingStore.ofWrites(IOException("full")))
        schedule.put("a", every10)
        assertEquals("full", runCatching { schedule.flush() }.exceptionOrNull()?.message)
        assertEquals(1, schedule.metrics.dirty)
        assertEquals(1L, schedule.metrics.flushFailures)
    }

    @Test
    fun store_thatCannotBeRead_endsTheSchedule() = scheduleTest {
        val schedule = start(FailingStore.ofLoads(IOException("unreadable")))
        val failure = runCatching { schedule.awaitEnd() }.exceptionOrNull()
        assertTrue(failure is IOException && failure.message == "unreadable") { "$failure" }
        assertThrows(IllegalStateException::class.java) { schedule.put("a", every10) }
    }

    @Test
    fun shutdown_waitsForRuns_cancelsThemAfterTheGrace_andRefusesEdits() = scheduleTest {
        var cancelled = 0
        val schedule = start {
            try {
                if (it.key == "short") delay(5.seconds) else awaitCancellation()
            } catch (e: CancellationException) {
                cancelled++
                throw e
            }
        }
        schedule.put("short", Trigger.at(Instant.ofEpochSecond(10)))
        schedule.put("long", Trigger.at(Instant.ofEpochSecond(10)))
        pass(11.seconds)
        schedule.shutdown()
        assertEquals(21L, instant().epochSecond)
        pass(Duration.ZERO)
        assertEquals(1, cancelled)
        schedule.awaitEnd()
        assertEquals(1, schedule.size, "the run that was cancelled is due again")
        for (edit in listOf(schedule::remove, schedule::pause, schedule::resume, schedule::triggerNow)) {
            val refusal = assertThrows(IllegalStateException::class.java) { edit("long") }
            assertEquals("Schedule 'checks' has ended", refusal.message)
        }
        assertTrue(runCatching { schedule.resync() }.exceptionOrNull() is IllegalStateException)
        schedule.shutdown()
        pass(1.hours)
        assertEquals(2, runs.size)
    }

    @Test
    fun run_again_isRefused() = scheduleTest {
        val schedule = start()
        repeat(2) {
            val refusal = runCatching { schedule.schedule.run() }.exceptionOrNull()
            assertTrue(refusal is IllegalStateException && "once" in refusal.message.orEmpty()) { "$refusal" }
            schedule.shutdown()
        }
    }
}

class KotlinScheduleTest : ScheduleContract(::KotlinScheduleFace)

class JavaScheduleTest : ScheduleContract(::JavaScheduleFace)
