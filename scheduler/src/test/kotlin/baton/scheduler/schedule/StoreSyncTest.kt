package baton.scheduler.schedule

import baton.scheduler.Schedule
import baton.scheduler.Trigger
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The changes of other writers: edits that arrive in the flow, and rows that a resync reads. */
class StoreSyncTest {
    private val store = FaultyStore()

    private val every20 = "every PT20S from 1970-01-01T00:00:00Z"

    @Test
    fun editsOfOthers_areInEffectAtOnce_andNotDirty() = scheduleTest {
        store.inside.apply(listOf(rowOf("changed", "every PT1H"), rowOf("deleted", every20)))
        val schedule = started(store = store)
        pass(1.seconds)
        store.writeOther(rowOf("changed", every20), rowOf("deleted", every20, deleted = true))
        store.writeOther(rowOf("new", every20), rowOf("paused", every20, paused = true))
        pass(39.seconds)
        assertEquals(listOf("changed", "new", "changed", "new"), runs.map { it.key })
        assertEquals(3, schedule.size)
        assertNull(schedule.nextDue("paused"))
        assertEquals(0, schedule.metrics.dirty)
        pass(1.hours)
        assertEquals(0, store.batches.size)
    }

    @Test
    fun edits_thatAreNotNewer_areIgnored() = scheduleTest {
        val schedule = started(store = store)
        repeat(5) { schedule.put("a", everyMinute).also { schedule.flush() } }
        schedule.put("b", everyMinute)
        schedule.flush()
        schedule.remove("b")
        schedule.flush()
        for (revision in listOf(0L, 4L, 5L)) store.tell(rowOf("a", every20, revision = revision))
        for (revision in listOf(6L, 7L)) store.tell(rowOf("b", every20, revision = revision))
        store.tell(rowOf("a", every20, deleted = true, revision = 5))
        pass(1.seconds)
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
        assertEquals(1, schedule.size)
        store.tell(rowOf("a", every20, revision = 8), rowOf("b", every20, revision = 9))
        pass(1.seconds)
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("a"))
        assertEquals(2, schedule.size)
    }

    @Test
    fun rowsOfOthers_neverOverwriteWhatTheUserHasChanged() = scheduleTest {
        val schedule = started(store = store)
        for (key in listOf("a", "b", "c")) schedule.put(key, everyMinute)
        schedule.flush()
        schedule.put("a", Trigger.every(30.seconds, Instant.EPOCH))
        schedule.remove("b")
        store.writeOther(rowOf("a", every20), rowOf("b", every20), rowOf("c", every20))
        pass(1.seconds)
        schedule.resync()
        assertEquals(listOf(30L, null, 20L), listOf("a", "b", "c").map { schedule.nextDue(it)?.epochSecond })
        schedule.flush()
        assertEquals(
            mapOf("a" to "every PT30S from 1970-01-01T00:00:00Z", "c" to every20),
            store.inside.load(0).associate { it.key to it.trigger },
        )
    }

    @Test
    fun rowsOfOthers_replaceAnEntryOfWhichOnlyTheDueTimeIsDirty() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", Trigger.fixedDelay(10.seconds))
        schedule.flush()
        pass(11.seconds)
        assertEquals(1, schedule.metrics.dirty)
        store.writeOther(rowOf("a", every20))
        pass(1.seconds)
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("a"))
        assertEquals(0, schedule.metrics.dirty)
    }

    @Test
    fun resync_readsWhatIsNewer() = scheduleTest {
        store.inside.apply(listOf(rowOf("changed", "every PT1H"), rowOf("deleted", "every PT1H")))
        val schedule = started(store = store)
        schedule.put("own", everyMinute)
        schedule.flush()
        store.writeOther(rowOf("changed", every20), rowOf("deleted", every20, deleted = true), isTold = false)
        store.writeOther(rowOf("new", every20), isTold = false)
        schedule.put("own", everyMinute)
        schedule.flush()
        schedule.resync()
        assertEquals(3, schedule.size)
        assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("changed"))
        assertEquals(listOf(0L, 2L), store.loads, "from the last revision before that of another")
        assertEquals(0, schedule.metrics.dirty)
        schedule.resync()
        assertEquals(5L, store.loads.last())
        assertEquals(3, schedule.metrics.storeReads)
    }

    @Test
    fun resync_storeWasEmptyAtTheStart_findsWhatOthersHaveWritten() = scheduleTest {
        val schedule = started(store = store)
        store.writeOther(rowOf("a", every20), isTold = false)
        schedule.resync()
        assertEquals(1, schedule.size)
        schedule.put("b", everyMinute)
        schedule.flush()
        schedule.resync()
        assertTrue(store.loads.drop(2).all { it > 0 })
    }

    @Test
    fun resync_isRepeatedAndBacksOff() = scheduleTest {
        val schedule = started(config(resyncEvery = 1.hours), store)
        schedule.put("a", everyMinute)
        pass(59.minutes)
        store.failsToLoad = true
        store.writeOther(rowOf("b", every20), isTold = false)
        pass(10.hours)
        assertEquals(listOf<Any>(store), failures.map { it.first })
        assertTrue(store.loads.size in 9..12, "${store.loads}")
        assertThrows(IOException::class.java) { kotlinx.coroutines.runBlocking { schedule.resync() } }
        store.failsToLoad = false
        pass(1.hours)
        assertEquals(2, schedule.size)
        assertEquals(1, failures.size)
    }

    @Test
    fun edits_whileTheRowsAreLoaded_areTakenOverAfterwards() = scheduleTest {
        store.inside.apply(listOf(rowOf("a", "every PT1H")))
        store.takes = 10.seconds
        val schedule = started(store = store)
        pass(5.seconds)
        store.writeOther(rowOf("a", every20), rowOf("b", every20))
        pass(4.seconds)
        assertEquals(0, schedule.size)
        pass(2.seconds)
        assertEquals(listOf(20L, 20L), listOf("a", "b").map { schedule.nextDue(it)!!.epochSecond })
    }

    @Test
    fun editsFail_areCollectedAnew_andWhatWasMissedIsRead() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("own", everyMinute)
        schedule.flush()
        store.failsToFlow = true
        store.breakFlow()
        pass(10.minutes)
        assertEquals(listOf<Any>(store), failures.map { it.first })
        store.writeOther(rowOf("missed", every20), isTold = false)
        store.failsToFlow = false
        pass(61.seconds)
        assertEquals(2, schedule.size)
        store.writeOther(rowOf("told", every20))
        pass(1.seconds)
        assertEquals(3, schedule.size)
        store.breakFlow()
        pass(1.seconds)
        assertEquals(2, failures.size)
    }

    @Test
    fun editsFail_whileAResyncStillFails_areCollectedAnew() = scheduleTest {
        started(store = store)
        pass(1.seconds)
        // A row that cannot be read, say, fails each resync.
        store.failsToLoad = true
        store.breakFlow()
        pass(1.minutes)
        store.breakFlow()
        pass(5.minutes)
        store.writeOther(rowOf("a", every20))
        pass(1.minutes)
        assertEquals(listOf("a", "a", "a"), runs.map { it.key })
    }

    @Test
    fun editOfOthers_thatIsNewerThanTheRowInFlight_isTakenOverAfterwards() = scheduleTest { scope ->
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.put("b", everyMinute)
        store.returnsAfter = 2.seconds
        scope.launch { schedule.flush() }
        pass(1.seconds)
        store.writeOther(rowOf("a", "every PT1H"), rowOf("b", every20))
        store.writeOther(rowOf("a", every20))
        schedule.put("b", everyMinute)
        pass(2.seconds)
        assertEquals(listOf(20L, 60L), listOf("a", "b").map { schedule.nextDue(it)!!.epochSecond })
        pass(10.seconds)
        assertEquals("every PT1M from 1970-01-01T00:00:00Z", store.inside.load(0).single { it.key == "b" }.trigger)
    }

    @Test
    fun editOfOthers_olderThanTheRowInFlight_isIgnored() = scheduleTest { scope ->
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        store.takes = 2.seconds
        scope.launch { schedule.flush() }
        pass(1.seconds)
        store.writeOther(rowOf("a", every20))
        pass(2.seconds)
        assertEquals(Instant.ofEpochSecond(60), schedule.nextDue("a"))
    }

    @Test
    fun editOfOthers_whileAFlushFails_isTakenOverUnlessTheUserHasEdited() = scheduleTest { scope ->
        val schedule = started(store = store)
        schedule.put("run", Trigger.fixedDelay(15.seconds))
        schedule.flush()
        pass(16.seconds)
        schedule.put("edited", everyMinute)
        store.returnsAfter = 2.seconds
        store.failsToConfirm = true
        scope.launch { runCatching { schedule.flush() } }
        pass(1.seconds)
        store.writeOther(rowOf("run", every20), rowOf("edited", every20))
        pass(2.seconds)
        assertEquals(listOf(20L, 60L), listOf("run", "edited").map { schedule.nextDue(it)!!.epochSecond })
    }

    @Test
    fun editOfOthers_betweenTheResyncAndTheNewCollection_isTakenOver() = scheduleTest {
        val schedule = started(store = store)
        pass(1.seconds)
        store.returnsAfter = 10.seconds
        store.breakFlow()
        pass(5.seconds)
        assertEquals(2, store.loads.size, "the resync goes on")
        store.writeOther(rowOf("a", every20))
        pass(10.seconds)
        assertEquals(1, schedule.size)
    }

    @Test
    fun deletionOfAnUnknownKey_keepsOlderRowsFromBringingItBack() = scheduleTest {
        val schedule = started(store = store)
        pass(1.seconds)
        store.tell(rowOf("a", every20, deleted = true, revision = 9))
        store.tell(rowOf("a", every20, revision = 8))
        pass(1.seconds)
        assertEquals(0, schedule.size)
        store.tell(rowOf("a", every20, revision = 10))
        pass(1.seconds)
        assertEquals(1, schedule.size)
    }

    @Test
    fun resync_beforeRun_waitsForTheRows_andEndsWithTheSchedule() = scheduleTest { scope ->
        val schedule = schedule(store = store)
        var failure: Throwable? = null
        val resync = scope.launch { runCatching { schedule.resync() }.onFailure { failure = it } }
        pass(1.minutes)
        assertTrue(resync.isActive)
        schedule.shutdown()
        resync.join()
        assertTrue(failure is IllegalStateException)
    }

    @Test
    fun resync_ownTriggerHasReplacedAStoredOne_keepsTheEntry() = scheduleTest {
        val schedule = started(store = store)
        schedule.put("a", everyMinute)
        schedule.flush()
        store.writeOther(rowOf("x", "every PT1H"))
        pass(1.seconds)
        val own = Trigger { after -> after.plusSeconds(10) }
        schedule.put("a", own)
        schedule.flush()
        repeat(3) {
            schedule.resync()
            assertEquals(2, schedule.size)
            schedule.remove("a")
            schedule.put("a", own)
        }
        pass(10.seconds)
        assertEquals(listOf(11L), timesOf("a"))
        store.writeOther(rowOf("a", every20, deleted = true), isTold = false)
        schedule.resync()
        assertEquals(1, schedule.size)
        schedule.put("a", everyMinute)
        schedule.flush()
        assertEquals(setOf("a", "x"), store.inside.load(0).map { it.key }.toSet())
    }

    @Test
    fun resync_rowOfADueTimeWasWrittenWithoutConfirmation_firesNothingTwice() = scheduleTest {
        val often = Trigger.named("often") { after -> after.plusSeconds(100) }
        val twice = Trigger.named("twice") { after -> after.plusSeconds(100).takeIf { it.epochSecond <= 200 } }
        val config = config(flushEvery = 1.hours, triggers = mapOf("often" to often, "twice" to twice))
        val schedule = started(config, store)
        schedule.put("a", often)
        schedule.put("b", twice)
        schedule.flush()
        pass(101.seconds)
        store.failsToConfirm = true
        assertTrue(runCatching { schedule.flush() }.isFailure)
        store.failsToConfirm = false
        pass(100.seconds)
        schedule.resync()
        pass(1.seconds)
        assertEquals(
            listOf("a" to 100L, "b" to 100L, "a" to 200L, "b" to 200L),
            runs.map { it.key to it.at.epochSecond },
        )
        schedule.flush()
        assertEquals(listOf("a" to Instant.ofEpochSecond(300)), store.inside.load(0).map { it.key to it.nextDue })
    }

    /** As with a database: the due time of a run does not replace the edit, of which no notification comes. */
    private fun unseenEditTest(block: suspend ScheduleWorld.(TestScope, Schedule<String>) -> Unit) =
        scheduleTest { scope ->
            store.keepsEdits = true
            val schedule = started(config(flushEvery = Duration.INFINITE), store)
            schedule.put("a", Trigger.fixedDelay(11.seconds))
            schedule.flush() // 1: revision 1
            store.writeOther(rowOf("a", every20), isTold = false) // 2: revision 2
            pass(12.seconds)
            assertEquals(1, schedule.metrics.dirty) // 3: a run has set a due time
            block(scope, schedule)
            pass(5.seconds)
            assertEquals(Instant.ofEpochSecond(20), schedule.nextDue("a"))
            assertEquals(every20, store.inside.load(0).single { it.key == "a" }.trigger)
        }

    @Test
    fun resync_whileTheRowOfARunIsInFlight_findsTheEditOfOthers() = unseenEditTest { scope, schedule ->
        store.takes = 2.seconds
        scope.launch { schedule.flush() } // 4: takes the row of the run
        pass(1.seconds)
        store.takes = Duration.ZERO
        scope.launch { schedule.resync() } // 5: revision 2 is in the store
        pass(0.seconds)
        pass(1.seconds) // 6: the flush ends with revision 3, and revision 4 is that of the edit
    }

    @Test
    fun resync_aroundTheFlushOfARun_findsTheEditOfOthers() = unseenEditTest { scope, schedule ->
        store.returnsAfter = 2.seconds
        scope.launch { schedule.resync() } // 4: reads revision 2, and has not merged it
        pass(1.seconds)
        store.returnsAfter = Duration.ZERO
        scope.launch { schedule.flush() } // 5: revision 3, if it is written now
        pass(0.seconds)
        pass(1.seconds) // 6: the rows of the resync are merged
    }
}
