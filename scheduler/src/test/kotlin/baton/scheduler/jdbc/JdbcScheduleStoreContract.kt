package baton.scheduler.jdbc

import baton.Priority
import baton.scheduler.ScheduleOwnedException
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import baton.scheduler.Trigger
import baton.scheduler.jdbc.databases.FaultySource
import baton.scheduler.jdbc.databases.JdbcStoreFixture
import baton.scheduler.jdbc.databases.TestDatabase
import baton.scheduler.jdbc.databases.entry
import baton.scheduler.schedule.ScheduleStoreContract
import java.nio.file.Path
import java.sql.SQLException
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The contract on every database. */
abstract class JdbcScheduleStoreContract : ScheduleStoreContract() {
    @TempDir lateinit var directory: Path

    internal abstract fun database(): TestDatabase

    private val lazyFixture = lazy { JdbcStoreFixture(database()) }
    internal val fixture: JdbcStoreFixture by lazyFixture

    override val hardKeys =
        listOf("", "a", "two words", "line\nbreak", "it's \\ \"%_\"", "ünïcødé 🎉", "x".repeat(1_900))

    /** Without signs of life, of which there would be thousands. */
    override fun open(): ScheduleStore<String> {
        val store = fixture.open(pollEdits = 1.minutes)
        return object : ScheduleStore<String> by store {
            override suspend fun renew() = Unit
        }
    }

    @AfterEach fun close() = if (lazyFixture.isInitialized()) fixture.close() else Unit

    @Test
    fun createTables_again_changesNothing() = runBlocking {
        val store = fixture.open()
        store.apply(listOf(entry("a")))
        store.createTables()
        store.close()
        fixture.open().createTables()
        assertEquals(listOf("a"), store.load(0).map { it.key })
    }

    @Test
    fun load_sinceARevision_returnsDeletedRows_untilTheSecondResyncOfTheOwner() = runBlocking {
        val store = fixture.open()
        store.own("test", 1.minutes)
        val first = store.apply(listOf(entry("a"), entry("b")))
        store.load(0)
        fixture.open().delete("a")
        assertEquals(listOf("a" to true), store.load(first).map { it.key to it.deleted })
        assertEquals(2, fixture.number("SELECT COUNT(*) FROM checks"))
        store.load(first)
        assertEquals(2, fixture.number("SELECT COUNT(*) FROM checks"))
        store.load(first)
        assertEquals(1, fixture.number("SELECT COUNT(*) FROM checks"))
    }

    @Test
    fun edits_olderThanADay_areDeletedByTheOwner() = runBlocking {
        val store = fixture.open()
        for (key in listOf("a", "b")) store.edit(key, Trigger.every(1.minutes))
        fixture.execute("UPDATE checks_edits SET written_at = written_at - 86500000 WHERE entry_key = 'a'")
        store.load(0)
        assertEquals(2, fixture.number("SELECT COUNT(*) FROM checks_edits"), "it is not the owner")
        store.own("test", 1.minutes)
        store.load(0)
        assertEquals(1, fixture.number("SELECT COUNT(*) FROM checks_edits"))
    }

    @Test
    fun apply_manyRows_writesAllInOneRevision() = runBlocking {
        val store = fixture.open()
        val revision = store.apply(List(2_500) { entry("key $it") })
        assertEquals(2_500, store.load(0).count { it.revision == revision })
        assertEquals(0, store.load(revision).size)
    }

    @Test
    fun apply_sameKeyTwice_keepsTheLast() = runBlocking {
        val store = fixture.open()
        store.apply(listOf(entry("a", "first"), entry("b"), entry("a", "last")))
        assertEquals("last", store.load(0).single { it.key == "a" }.trigger)
    }

    @Test
    fun apply_textThatNoDatabaseHolds_isRefusedAndWritesNothing() = runBlocking {
        val store = fixture.open()
        for (key in listOf("a\u0000b", "a\uD800", "x".repeat(2_001))) {
            assertThrows<IllegalArgumentException> { runBlocking { store.apply(listOf(entry("good"), entry(key))) } }
        }
        assertThrows<IllegalArgumentException> { runBlocking { store.apply(listOf(entry("a", "x".repeat(65_536)))) } }
        store.apply(listOf(entry("a", "x".repeat(65_535))))
        assertEquals(listOf("a"), store.load(0).map { it.key })
    }

    @Test
    fun data_ofTooManyBytes_isRefused_alsoInAStatementOfAnotherProgram() = runBlocking {
        val store = fixture.open()
        fun row(size: Int) = ScheduleRow("a", "every PT2M", Priority.LOW, null, null, false, 0, data = ByteArray(size))
        val refusal = assertThrows<IllegalArgumentException> { runBlocking { store.apply(listOf(row(65_537))) } }
        assertEquals("data has 65537 bytes, must have at most 65536", refusal.message)
        store.apply(listOf(row(65_536)))
        fun update(size: Int): Int =
            fixture.database.connect().use { connection ->
                connection.prepareStatement("UPDATE checks SET entry_data = ?").use { statement ->
                    statement.setBytes(1, ByteArray(size))
                    statement.executeUpdate()
                }
            }
        assertThrows<SQLException> { update(65_537) }
        assertEquals(1, update(65_536))
    }

    @Test
    fun dueTimeOfARun_doesNotReplaceAnEdit_whichIsAnnouncedAnew() = runBlocking {
        val store = fixture.open()
        val known = store.apply(listOf(entry("a"), entry("b"), entry("c")))
        val other = fixture.open()
        other.edit("a", Trigger.every(7.minutes))
        other.delete("b")
        other.edit("c", Trigger.every(7.minutes))
        val rows = listOf("a", "b").map { entry(it, revision = known, isEdited = false) } + entry("c", revision = known)
        val revision = store.apply(rows)
        val stored = store.load(0).associate { it.key to it.trigger }
        assertEquals(
            mapOf("a" to "every PT7M", "c" to "every PT2M"),
            stored,
            "the edit of c came before that of the user",
        )
        val newer = fixture.open().load(revision)
        assertEquals(setOf("a" to false, "b" to true), newer.map { it.key to it.deleted }.toSet())
        assertEquals(2, fixture.number("SELECT COUNT(*) FROM checks_edits WHERE revision > $revision"))
        // Its own later writes replace its own rows, whatever the schedule knows of them.
        store.apply(listOf(entry("c", "mine", revision = known, isEdited = false)))
        assertEquals("mine", store.load(0).single { it.key == "c" }.trigger)
    }

    @Test
    fun edits_ofOtherStores_arrive_andOwnWritesDoNot() = runBlocking {
        val store = fixture.openOnIo()
        store.load(0)
        val other = fixture.openOnIo()
        val edits = Channel<String>(Channel.UNLIMITED)
        val collection = launch {
            store.edits().collect { rows -> for (row in rows) edits.send("${row.key} ${row.deleted}") }
        }
        // Before the flow has begun, an edit belongs to the load.
        while (edits.isEmpty) {
            other.edit("begin", Trigger.every(1.minutes))
            delay(20.milliseconds)
        }
        store.apply(listOf(entry("own")))
        other.edit("a", Trigger.every(1.minutes))
        other.delete("a")
        store.edit("mine", Trigger.every(1.minutes))
        val seen = ArrayList<String>()
        withTimeout(2.minutes) { while ("mine false" !in seen) seen += edits.receive() }
        assertEquals(listOf("a true", "mine false"), seen.filter { it != "begin false" && it != "a false" })
        collection.cancel()
    }

    @Test
    fun owner_fresh_isNamed_andIsFreeAfterItsCloseOrItsSilence() = runBlocking {
        val first = fixture.open()
        first.own("Schedule 'one'", 1.minutes)
        val second = fixture.open()
        val refusal = assertThrows<ScheduleOwnedException> { runBlocking { second.own("two", 1.minutes) } }
        val pid = ProcessHandle.current().pid()
        assertTrue(refusal.owner.startsWith("Schedule 'one', process $pid on "), refusal.owner)
        assertTrue(refusal.owner in refusal.message!!, refusal.message)
        first.close()
        second.own("two", 1.minutes)
        fixture.execute("UPDATE checks_owner SET beat_at = beat_at - 179000")
        assertThrows<ScheduleOwnedException> { runBlocking { first.own("one", 1.minutes) } }
        fixture.execute("UPDATE checks_owner SET beat_at = beat_at - 1000")
        first.own("one", 1.minutes)
        val loss = assertThrows<ScheduleOwnedException> { runBlocking { second.renew() } }
        assertTrue(loss.owner.startsWith("one, process"), loss.owner)
        assertThrows<ScheduleOwnedException> { runBlocking { second.apply(listOf(entry("a"))) } }
        assertEquals(0, fixture.open().load(0).size)
        second.close()
        first.apply(listOf(entry("a")))
        assertEquals(1, first.load(0).size)
    }

    /** The clock of the database was ahead when the owner crashed, and is right now. */
    @Test
    fun owner_crashedWithASignOfLifeInTheFuture_isStaleAfterThreeIntervals() {
        for (ahead in listOf(10.seconds, 1.hours, 3650.days)) runTest {
            val crashed = fixture.open()
            crashed.own("crashed", 1.minutes)
            fixture.execute("UPDATE checks_owner SET beat_at = beat_at + ${ahead.inWholeMilliseconds}")
            val next = fixture.open()
            next.own("next", 5.seconds)
            assertEquals(3.minutes.inWholeMilliseconds, currentTime, "$ahead")
            assertThrows<ScheduleOwnedException> { runBlocking { crashed.renew() } }
            assertTrue(fixture.number("SELECT beat_at FROM checks_owner") <= System.currentTimeMillis() + 60_000)
            next.close()
        }
    }

    /** The clock of the database was set back while the owner ran. */
    @Test
    fun owner_aliveWithASignOfLifeInTheFuture_isNamedAfterItsNextOne() = runTest {
        val owner = fixture.open()
        owner.own("alive", 1.minutes)
        fixture.execute("UPDATE checks_owner SET beat_at = beat_at + 3600000")
        val next = fixture.open()
        val refusal = async { runCatching { next.own("next", 1.minutes) }.exceptionOrNull() }
        delay(150.seconds)
        assertTrue(refusal.isActive)
        fixture.execute("UPDATE checks_owner SET beat_at = beat_at + 150000")
        val failure = refusal.await() as ScheduleOwnedException
        assertTrue(failure.owner.startsWith("alive, process"), failure.owner)
        assertEquals(3.minutes.inWholeMilliseconds, currentTime)
        owner.renew()
    }

    @Test
    fun owner_crashedWithASignOfLifeInTheFuture_isReplacedByOneOfTwo() = runTest {
        fixture.open().own("crashed", 1.minutes)
        fixture.execute("UPDATE checks_owner SET beat_at = beat_at + 3600000")
        val stores = List(2) { fixture.open() }
        val results = stores.mapIndexed { i, store -> async { runCatching { store.own("$i", 1.minutes) } } }.awaitAll()
        assertEquals(1, results.count { it.isSuccess }, "$results")
        assertTrue(results.all { it.isSuccess || it.exceptionOrNull() is ScheduleOwnedException })
        stores[results.indexOfFirst { it.isSuccess }].renew()
    }

    @Test
    fun owner_refusal_saysHowToFreeTheTables() = runTest {
        fixture.open().own("crashed", 1.minutes)
        val next = fixture.open()
        val refusal = runCatching { next.own("next", 1.minutes) }.exceptionOrNull() as ScheduleOwnedException
        fixture.execute(refusal.message!!.substringAfterLast(": "))
        next.own("next", 1.minutes)
        assertEquals(0, currentTime)
    }

    @Test
    fun owner_renews_byEachWrite() = runBlocking {
        val store = fixture.open()
        store.own("test", 1.minutes)
        for (write in listOf<suspend () -> Unit>({ store.apply(listOf(entry("a"))) }, { store.renew() })) {
            fixture.execute("UPDATE checks_owner SET beat_at = 0")
            write()
            assertTrue(fixture.number("SELECT beat_at FROM checks_owner") > 1_700_000_000_000)
        }
    }

    @Test
    fun rowOfOthers_thatCannotBeRead_isNamed() = runBlocking {
        val store = fixture.open()
        fixture.execute(
            "INSERT INTO checks (entry_key, trigger_text, priority, next_due, paused_by, deleted, revision, writer) " +
                "VALUES ('a', 'x', 'NORMAL', 'tomorrow', NULL, FALSE, 1, 'hand')"
        )
        val failure = assertThrows<IllegalStateException> { runBlocking { store.load(0) } }
        assertEquals("table checks holds next_due 'tomorrow' for the key 'a', which is no instant", failure.message)
        fixture.execute("UPDATE checks SET next_due = NULL")
        val numbers = fixture.open(codec = NUMBERS)
        assertThrows<IllegalStateException> { runBlocking { numbers.load(0) } }
        assertThrows<java.sql.SQLException> { fixture.execute("UPDATE checks SET priority = 'urgent'") }
        assertEquals(1, store.load(0).size)
    }

    @Test
    fun edit_ofATriggerWithoutText_isRefused() = runBlocking {
        val store = fixture.open()
        assertThrows<IllegalArgumentException> { runBlocking { store.edit("a", { it.plusSeconds(1) }) } }
        store.edit("a", Trigger.named("n", { it.plusSeconds(1) }), baton.Priority.HIGH)
        assertEquals("named n HIGH null", store.load(0).single().run { "$trigger $priority $nextDue" })
    }

    @Test
    fun call_afterAFailure_takesANewConnection() = runBlocking {
        val source = FaultySource(fixture.database.source)
        val store = fixture.open(source)
        store.apply(listOf(entry("a")))
        source.breakAll()
        assertThrows<java.sql.SQLException> { runBlocking { store.apply(listOf(entry("b"))) } }
        store.apply(listOf(entry("c")))
        assertEquals(setOf("a", "c"), store.load(0).map { it.key }.toSet())
        store.close()
        assertEquals(0, source.open)
    }

    @Test
    fun apply_whoseCommitFails_hasNoEffect_andLeavesNoConnection() = runBlocking {
        val source = FaultySource(fixture.database.source)
        val store = fixture.open(source)
        source.failsAt = "commit"
        assertThrows<java.sql.SQLException> { runBlocking { store.apply(listOf(entry("a"))) } }
        source.failsAt = null
        assertEquals(0, store.load(0).size)
        source.failsAt = "executeBatch"
        assertThrows<java.sql.SQLException> { runBlocking { store.apply(listOf(entry("a"))) } }
        source.failsAt = "setAutoCommit"
        assertThrows<java.sql.SQLException> { runBlocking { store.apply(listOf(entry("a"))) } }
        source.failsAt = null
        store.close()
        assertEquals(0, source.open)
    }

    private companion object {
        val NUMBERS =
            object : baton.scheduler.KeyCodec<String> {
                override fun encode(key: String) = key

                override fun decode(text: String) = text.toLong().toString()
            }
    }
}
