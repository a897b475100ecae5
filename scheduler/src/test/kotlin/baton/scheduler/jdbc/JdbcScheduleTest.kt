package baton.scheduler.jdbc

import baton.scheduler.Schedule
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.FaultySource
import baton.scheduler.jdbc.databases.H2Database
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.schedule.ScheduleWorld
import java.nio.file.Path
import java.sql.SQLException
import java.time.Instant
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** A schedule on H2, in virtual time. */
class JdbcScheduleTest {
    @TempDir private lateinit var directory: Path
    private lateinit var fixture: JdbcStoreFixture
    private lateinit var source: FaultySource

    @BeforeEach
    fun open() {
        fixture = JdbcStoreFixture(H2Database(directory))
        source = FaultySource(fixture.database.source)
    }

    @AfterEach fun close() = fixture.close()

    /** Runs of entries at a fixed rate cost neither a query nor a row. */
    @Test
    fun schedule_over12Hours_queriesOnlyForEditsAndOneResync() = runTest {
        val world = ScheduleWorld(this)
        val config = world.config(resolution = 1.seconds, flushEvery = 1.minutes)
        val first = world.schedule(config, fixture.open(source, pollEdits = 1.minutes))
        val entries = 40
        for (i in 0 until entries) first.put("check $i", Trigger.every(2.minutes))
        first.flush()
        first.shutdown()
        source.queries.set(0)
        source.updates.set(0)
        var runs = 0L
        val schedule = Schedule(fixture.open(source, pollEdits = 1.minutes), 200, "day", config) { runs++ }
        world.start(schedule)
        world.pass(12.hours + 1.seconds)
        assertTrue(runs in entries * 359L..entries * 361L, "$runs runs")
        val polls = 12 * 60
        // The checks of the column and the version, the edits that were there, and the rows and the pause of the load
        // and of the resync.
        assertEquals(7L + polls, source.queries.get())
        assertEquals(0, schedule.metrics.storeWrites)
        val housekeeping = 2 * 3L
        assertTrue(source.updates.get() in polls - 1L..polls + housekeeping + 3, "${source.updates}: one sign a minute")
        schedule.shutdown()
    }

    @Test
    fun secondOwner_isRefusedAndLeavesTheStore_untilTheFirstHasEnded() = runTest {
        val world = ScheduleWorld(this)
        val first = world.started(store = fixture.open())
        first.put("a", Trigger.every(1.minutes))
        first.flush()
        val second = world.schedule(store = fixture.open())
        val refusal = assertThrows<ScheduleOwnedException> { second.flushOf("b") }
        assertTrue(refusal.owner.startsWith("Schedule 'test', process "), refusal.owner)
        supervisorScope {
            val run = async(start = CoroutineStart.UNDISPATCHED) { second.run() }
            assertThrows<ScheduleOwnedException> { run.await() }
        }
        assertEquals(listOf("a"), fixture.open().load(0).map { it.key })
        first.shutdown()
        val third = world.started(store = fixture.open())
        assertEquals(1, third.size)
        third.shutdown()
    }

    @Test
    fun ownerTakenOver_stopsFiring_andWritesNothing() = runTest {
        val world = ScheduleWorld(this)
        val schedule = world.schedule(store = fixture.open())
        supervisorScope {
            val run = async(start = CoroutineStart.UNDISPATCHED) { schedule.run() }
            schedule.put("a", Trigger.every(1.seconds, Instant.EPOCH))
            world.pass(10.seconds)
            fixture.execute("UPDATE checks_owner SET beat_at = 0")
            val other = fixture.open()
            other.own("another", 1.minutes)
            val before = world.runs.size
            schedule.put("b", Trigger.every(1.seconds, Instant.EPOCH))
            val loss = assertThrows<ScheduleOwnedException> { run.await() }
            assertTrue(loss.owner.startsWith("another, process"), loss.message)
            assertTrue(world.runs.size <= before + 12)
            val runs = world.runs.size
            world.pass(1.minutes)
            assertEquals(runs, world.runs.size)
            assertEquals(listOf("a"), fixture.open().load(0).map { it.key })
            assertEquals(1, world.failures.size, "${world.failures}")
            other.close()
        }
    }

    @Test
    fun signsOfLife_afterFailures_comeAtTheSamePace() = runTest {
        val world = ScheduleWorld(this)
        val schedule = world.started(world.config(flushEvery = 5.seconds), fixture.open(source))
        source.failsAt = "executeUpdate"
        world.pass(22.seconds)
        source.failsAt = null
        source.updates.set(0)
        // The next is due at 25 s.
        world.pass(6.seconds)
        assertEquals(1, source.updates.get())
        schedule.shutdown()
    }

    @Test
    fun signsOfLife_ofAFlushEveryMillisecond_comeEachSecond() = runTest {
        val world = ScheduleWorld(this)
        val schedule = world.started(world.config(flushEvery = 1.milliseconds), fixture.open(source))
        source.updates.set(0)
        world.pass(10.seconds)
        assertEquals(10, source.updates.get())
        schedule.shutdown()
    }

    @Test
    fun storeThatWrapsAnother_isOwnedToo() = runTest {
        val world = ScheduleWorld(this)
        fun wrapped() = object : ScheduleStore<String> by fixture.open() {}
        val first = world.started(store = wrapped())
        val second = world.schedule(store = wrapped())
        assertThrows<ScheduleOwnedException> { second.flushOf("b") }
        first.shutdown()
    }

    private suspend fun Schedule<String>.flushOf(key: String) {
        put(key, Trigger.every(1.minutes))
        flush()
    }

    @Test
    fun editOfAnotherProgram_winsOverTheDueTimeOfARun() = runTest {
        val world = ScheduleWorld(this)
        val schedule = world.started(store = fixture.open(pollEdits = 1.minutes))
        schedule.put("a", Trigger.fixedDelay(20.seconds))
        schedule.put("removed", Trigger.fixedDelay(20.seconds))
        world.pass(10.seconds)
        val other = fixture.open()
        other.edit("a", Trigger.every(5.minutes, Instant.EPOCH))
        other.delete("removed")
        // The runs at 20 s are written before the edits are polled.
        world.pass(40.seconds)
        world.pass(80.seconds)
        assertEquals(Instant.ofEpochSecond(300), schedule.nextDue("a"))
        assertNull(schedule.nextDue("removed"))
        assertEquals(listOf("every PT5M from 1970-01-01T00:00:00Z"), fixture.open().load(0).map { it.trigger })
        assertEquals(0, schedule.metrics.dirty)
        schedule.shutdown()
    }

    @Test
    fun databaseThatIsGone_isOneOutage_andLosesNothing() = runTest {
        val world = ScheduleWorld(this)
        val schedule = world.started(world.config(flushEvery = 30.seconds), fixture.open(source, pollEdits = 1.minutes))
        for (failure in listOf("getConnection", "executeBatch", "commit", "prepareStatement")) {
            world.failures.clear()
            source.failsAt = failure
            source.breakAll()
            schedule.put(failure, Trigger.every(10.seconds))
            world.pass(10.minutes)
            assertTrue(world.failures.size in 1..2, "$failure: ${world.failures}")
            assertTrue(world.failures.all { it.second is SQLException })
            source.failsAt = null
            world.pass(2.minutes)
            assertEquals(0, schedule.metrics.dirty)
            fixture.open().edit("edit $failure", Trigger.every(10.seconds))
            world.pass(1.minutes)
            assertTrue(schedule.nextDue("edit $failure") != null, failure)
        }
        assertEquals(8, fixture.open().load(0).size)
        schedule.shutdown()
        assertEquals(0, source.open)
    }
}
