package baton.test

import baton.Priority
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.ScheduleRow
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Duration
import java.time.Instant
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class FakeScheduleStoreTest {
    private val store = FakeScheduleStore<String>()
    private val row = ScheduleRow("a", "every PT2M", Priority.LOW, null, pausedBy = null, deleted = false, revision = 0)

    private suspend fun outcome() = runCatching { store.apply(listOf(row)) }.exceptionOrNull()?.javaClass

    @Test
    fun calls_thatAreToFail_failAndWriteNothing() = runTest {
        store.failNext(2)
        assertEquals(IOException::class.java, outcome())
        val failure = assertThrows<IOException> { store.load(0) }
        assertEquals("load of a FakeScheduleStore fails, as the test wants it", failure.message)
        // It may be printed, and where it comes from is known.
        assertEquals(0, failure.stackTrace.count { it.className.startsWith("baton.") })
        assertEquals(0, store.load(0).size)
        assertEquals(null, outcome())
        assertEquals(listOf(1, 5), listOf(store.load(0).size, store.calls))
    }

    @Test
    fun outage_lastsForItsSpan_inVirtualTime() = runTest {
        store.failFor(10.minutes)
        assertEquals(IOException::class.java, outcome())
        delay(10.minutes - 1.seconds)
        assertEquals(IOException::class.java, outcome())
        delay(1.seconds)
        assertEquals(null, outcome())
        store.failFor(100_000.days)
        assertEquals(IOException::class.java, outcome())
        store.failFor(Duration.ZERO)
        assertEquals(null, outcome())
    }

    @Test
    fun delay_comesBeforeTheEffect() = runTest {
        store.delayCalls(3.seconds)
        store.apply(listOf(row))
        assertEquals(3_000, currentTime)
        val call = launch { store.load(0) }
        delay(1.seconds)
        call.cancel()
        call.join()
        assertEquals(4_000, currentTime)
        store.delayCalls(Duration.ZERO)
        store.load(0)
        assertEquals(4_000, currentTime)
    }

    @Test
    fun schedule_onAManualClock_firesDuringAnOutage_andWritesAfterwards() {
        val clock = ManualClock()
        val runs = ArrayList<Instant>()
        val schedule =
            Schedule(store, config = ScheduleConfig(clock = clock, onFailure = { _, _ -> })) { due -> runs += due.at }
        val run = CoroutineScope(Dispatchers.Unconfined + Job()).launch { schedule.run() }
        store.failFor(1.days)
        schedule.put("a", Trigger.every(2.minutes))
        clock.advance(1.minutes)
        assertTrue(clock.advanceToNextDue(schedule))
        assertTrue(runs.isNotEmpty())
        assertTrue(schedule.metrics.dirty > 0) { "${schedule.metrics}" }
        clock.advance(2.days)
        assertTrue(schedule.metrics.storeWrites > 0) { "${schedule.metrics}" }
        run.cancel()
    }

    @Test
    fun misuse_isRefused() {
        val messages =
            listOf<() -> Unit>(
                    { store.failNext(-1) },
                    { store.failFor((-1).seconds) },
                    { store.delayCalls(Duration.ofSeconds(Long.MAX_VALUE)) },
                )
                .map { assertThrows<IllegalArgumentException> { it() }.message }
        val far = Duration.ofSeconds(Long.MAX_VALUE)
        val expected =
            listOf(
                "calls = -1, must be at least 0",
                "span = PT-1S, must be at least 0",
                "delay = $far, must be at most 292 years",
            )
        assertEquals(expected, messages)
    }
}
