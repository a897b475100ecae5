package baton.scheduler.schedule

import baton.scheduler.PausedBy
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The writes of a schedule, their times, and stores that fail. */
class WriteBehindTest {
    private val store = FaultyStore()

    private suspend fun stored() =
        store.inside.load(0).associate { it.key to "${it.trigger} ${it.nextDue} ${it.pausedBy == PausedBy.USER}" }

    @Test
    fun changes_coalesceByKey_andAreAppliedTogether() = scheduleTest {
        val schedule = started(store = store)
        repeat(100) { schedule.put("a", Trigger.fixedDelay((it + 1).minutes)) }
        schedule.put("b", everyMinute)
        schedule.put("gone", everyMinute)
        schedule.remove("gone")
        assertEquals(3, schedule.metrics.dirty)
        pass(4999.milliseconds)
        assertEquals(0, store.batches.size)
        pass(1.milliseconds)
        assertEquals(listOf("a", "b"), store.batches.single().map { it.key })
        assertEquals(
            mapOf(
                "a" to "delay PT1H40M 1970-01-01T01:40:00Z false",
                "b" to "every PT1M from 1970-01-01T00:00:00Z null false",
            ),
            stored(),
        )
        assertEquals(listOf(0L, 1L, 1L), schedule.metrics.run { listOf(dirty.toLong(), storeReads, storeWrites) })
    }

    /** The loop took the change, and was cancelled before it had written it. */
    @Test
    fun change_whileTheStoreCancelsTheCoroutineOfTheFlush_isWritten() = scheduleTest {
        val schedule = started(store = store)
        store.afterApply = {
            store.afterApply = {}
            schedule.put("b", everyMinute)
            currentCoroutineContext().cancel()
        }
        schedule.put("a", everyMinute)
        pass(20.seconds)
        assertEquals(setOf("a", "b"), stored().keys)
    }

    @Test
    fun every_writesNothingForItsRuns() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        pass(24.hours)
        assertEquals(24 * 60, runs.size)
        assertEquals(1, schedule.metrics.storeWrites)
        assertEquals(listOf(0L, 1L, 1L), store.loads)
    }

    @Test
    fun ownTrigger_withoutAName_isNeitherWrittenNorDirty() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", Trigger { it.plusSeconds(1) })
        pass(10.seconds)
        schedule.pause("a")
        schedule.resume("a")
        pass(10.seconds)
        schedule.remove("a")
        assertEquals(0, schedule.metrics.dirty)
        schedule.shutdown()
        assertEquals(0, store.batches.size)
    }

    @Test
    fun ownTrigger_inPlaceOfAStoredOne_deletesTheRowOnce() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.flush()
        schedule.put("a", Trigger { it.plusSeconds(1) })
        pass(1.minutes)
        assertEquals(mapOf<String, String>(), stored())
        assertEquals(2, store.batches.size)
        assertEquals(61, runs.size + schedule.metrics.skipped + 1)
    }

    @Test
    fun rowsOfRuns_areWrittenWithTheNextDueTime() = scheduleTest {
        val triggers = mapOf("n" to Trigger { it.plusSeconds(90) })
        val schedule = started(config(triggers = triggers), store) { delay(10.seconds) }
        schedule.put("delay", Trigger.fixedDelay(1.minutes))
        schedule.put("named", Trigger.named("n", triggers.getValue("n")))
        schedule.put("at", Trigger.at(Instant.ofEpochSecond(60)))
        pass(65.seconds)
        assertEquals("at 1970-01-01T00:01:00Z 1970-01-01T00:01:00Z false", stored()["at"], "deleted before its end")
        pass(40.seconds)
        assertEquals(
            mapOf("delay" to "delay PT1M 1970-01-01T00:02:10Z false", "named" to "named n 1970-01-01T00:03:00Z false"),
            stored(),
        )
    }

    @Test
    fun put_beforeRun_winsOverTheStore() = scheduleTest {
        store.inside.apply(listOf("a", "b", "c", "d").map { rowOf(it, "every PT1H") })
        val schedule = schedule(store = store)
        schedule.put("a", everyMinute)
        schedule.put("b", everyMinute)
        schedule.remove("b")
        schedule.put("c", Trigger { it.plusSeconds(120) })
        start(schedule)
        assertEquals(3, schedule.size)
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
        assertEquals(Instant.ofEpochSecond(120), schedule.nextDue("c"))
        schedule.flush()
        assertEquals(
            mapOf("a" to "every PT1M from 1970-01-01T00:00:00Z null false", "d" to "every PT1H null false"),
            stored(),
        )
        assertEquals(0, schedule.metrics.dirty)
    }

    @Test
    fun flush_beforeRun_writes() = scheduleTest {
        val schedule = schedule(store = store)
        schedule.put("a", everyMinute)
        schedule.put("b", everyMinute)
        schedule.flush()
        assertEquals(setOf("a", "b"), stored().keys)
        schedule.remove("b")
        start(schedule)
        schedule.flush()
        schedule.flush()
        assertEquals(setOf("a"), stored().keys)
        assertEquals(2, store.batches.size)
    }

    @Test
    fun unknownName_doesNotFire_andIsReported() = scheduleTest {
        store.inside.apply(
            listOf(rowOf("a", "named x"), rowOf("b", "at some time"), rowOf("c", "every PT0S"), rowOf("d", "?"))
        )
        val schedule = started(store = store)
        assertEquals(4, schedule.size)
        assertEquals(listOf("a", "b", "c", "d"), failures.map { it.first })
        assertTrue("no trigger is named 'x'" in failures[0].second.message!!)
        assertEquals(listOf("a", "b", "c", "d"), schedule.failedTriggers())
        assertEquals(0, schedule.metrics.dirty)
        schedule.resume("a")
        assertEquals(5, failures.size)
        schedule.flush()
        assertEquals("named x null false", stored()["a"])
        schedule.pause("a")
        schedule.flush()
        assertEquals("named x null true", stored()["a"])
    }

    @Test
    fun overdueRows_followTheMisfirePolicy() {
        for (misfire in listOf(baton.scheduler.Misfire.FireOnce, baton.scheduler.Misfire.Skip)) scheduleTest {
            val store = FaultyStore()
            val due = Instant.ofEpochSecond(50)
            store.inside.apply(
                listOf(rowOf("at", "at $due", due), rowOf("delay", "delay PT10S", due), rowOf("n", "named n", due))
            )
            pass(65.seconds)
            val schedule = started(config(misfire, triggers = mapOf("n" to Trigger { it.plusSeconds(10) })), store)
            pass(0.seconds)
            val isFired = misfire == baton.scheduler.Misfire.FireOnce
            assertEquals(if (isFired) listOf(50L, 50L, 50L) else listOf(), times)
            assertEquals(if (isFired) 1 else 0, runs.sumOf { it.missed })
            assertEquals(2, schedule.size)
            schedule.flush()
            assertEquals(setOf("delay", "n"), store.inside.load(0).map { it.key }.toSet())
        }
    }

    @Test
    fun applyFails_keepsTheChanges_backsOff_andTellsOncePerOutage() = scheduleTest {
        val schedule = started(store = store)
        store.failsToApply = true
        for (key in listOf("a", "b", "c")) schedule.put(key, Trigger.fixedDelay(1.seconds))
        pass(1.hours)
        assertEquals(3, schedule.metrics.dirty)
        assertEquals(listOf<Any>(store), failures.map { it.first })
        // After 5 s, then 5, 10, 20 and 40 s later, then every minute.
        val expected = 5L + (3600 - 80) / 60
        assertTrue(schedule.metrics.flushFailures in expected - 1..expected + 1, "${schedule.metrics}")
        assertThrows(IOException::class.java) { kotlinx.coroutines.runBlocking { schedule.flush() } }
        store.failsToApply = false
        pass(61.seconds)
        assertEquals(3, store.batches[0].size)
        store.failsToApply = true
        pass(1.minutes)
        assertEquals(2, failures.size)
        assertTrue(runs.size > 3 * 3600, "it fires as ever")
    }

    @Test
    fun row_thatTheStoreRefuses_isReportedOnce_andTheOthersAreWritten() = scheduleTest {
        store.refuses = { it.key == "bad" || it.key == "worse" }
        val schedule = started(store = store)
        val keys = List(20) { "$it" }
        for (key in keys.take(10) + "bad" + keys.drop(10) + "worse") schedule.put(key, Trigger.fixedDelay(1.minutes))
        schedule.flush()
        assertEquals(keys.toSet(), stored().keys)
        assertEquals(
            listOf<Any>("bad" to "row of bad", "worse" to "row of worse"),
            failures.map { it.first to it.second.message },
        )
        assertEquals(0, schedule.metrics.dirty)
        pass(1.hours)
        assertEquals(2, failures.size)
        assertTrue(runs.size > 22 * 58, "they fire as ever")
        store.refuses = { false }
        schedule.put("bad", everyMinute)
        schedule.remove("worse")
        schedule.flush()
        assertEquals(keys.toSet() + "bad", stored().keys)
        assertEquals(2, failures.size)
    }

    @Test
    fun row_thatTheStoreRefusesInPlaceOfAStoredOne_isRemovedWithItsEntry() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.flush()
        store.refuses = { it.trigger.startsWith("at") }
        schedule.put("a", Trigger.at(Instant.ofEpochSecond(10)))
        schedule.flush()
        pass(20.seconds)
        assertEquals(0 to 0, schedule.size to stored().size)
        assertEquals(listOf<Any>("a"), failures.map { it.first })
    }

    @Test
    fun changes_whileABatchIsInFlight_areWrittenByTheNext() = scheduleTest { scope ->
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.put("b", everyMinute)
        schedule.put("c", everyMinute)
        store.takes = 1.seconds
        val flush = scope.launch { schedule.flush() }
        pass(500.milliseconds)
        schedule.put("a", Trigger.every(2.minutes))
        schedule.remove("b")
        assertEquals(3, schedule.metrics.dirty)
        flush.join()
        assertEquals(2, schedule.metrics.dirty)
        schedule.flush()
        assertEquals(setOf("a", "c"), stored().keys)
        assertEquals("every PT2M null false", stored()["a"])
        assertEquals(listOf(3, 2), store.batches.map { it.size })
    }

    @Test
    fun flush_cancelled_keepsTheChanges() = scheduleTest { scope ->
        val schedule = started(config(flushEvery = Duration.INFINITE), store)
        schedule.put("a", everyMinute)
        store.takes = 10.seconds
        val flush = scope.launch { schedule.flush() }
        pass(5.seconds)
        flush.cancel()
        pass(0.seconds)
        assertEquals(listOf(1L, 0L), schedule.metrics.run { listOf(dirty.toLong(), flushFailures) })
        schedule.flush()
        assertEquals(1, stored().size)
        assertEquals(0, failures.size)
    }

    @Test
    fun slowStore_doesNotDelayTheLoop() = scheduleTest {
        store.takes = 10.minutes
        val schedule = schedule(store = store)
        schedule.put("a", everyMinute)
        start(schedule)
        pass(10.minutes)
        store.takes = 1.hours
        pass(2.hours)
        assertTrue(runs.size >= 119 && runs.all { it.lag <= 10.milliseconds || it.at <= Instant.ofEpochSecond(600) })
    }
}
