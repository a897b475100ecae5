package baton.scheduler.journal

import baton.scheduler.JournalDamagedException
import baton.scheduler.journal.FaultyDisk.Operation
import java.io.IOException
import java.nio.channels.ClosedByInterruptException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.exists
import kotlin.io.path.fileSize
import kotlin.io.path.name
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes
import kotlin.io.path.writeText
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The journal on disks that are full or fail, and what it leaves in its directory. */
internal class JournalLogTest {
    @TempDir private lateinit var directory: Path
    private val disk = FaultyDisk()
    private val path
        get() = directory.resolve("checks.journal")

    private var journal: Journal? = null

    private fun open(fsync: Boolean = true): Journal = Journal(path, fsync, disk).also { journal = it }

    @AfterEach
    fun close() {
        journal?.close()
    }

    private fun keys(journal: Journal): Set<String> = journal.load(0).mapTo(HashSet()) { it.key }

    /** What another process would find. */
    private fun storedKeys(): Set<String> {
        journal?.close()
        val stored = Journal(path, fsync = true)
        return stored.use { keys(it) }
    }

    private fun files(): Set<String> = Files.list(directory).use { files -> files.map { it.name }.toList().toSet() }

    /** Enough for one snapshot. */
    private fun grow(journal: Journal): Long {
        val rows = List(3) { row("big", "t".repeat(30_000)) }
        return rows.maxOf { journal.append(listOf(it)) }
    }

    @Test
    fun append_onADiskFullAtAnyByte_countsAsNeverWrittenAndWorksLater() {
        val length = JournalCodec.batch(1, listOf(row("b"))).remaining()
        val journal = open()
        var revision = journal.append(listOf(row("a")))
        for (space in 0L until length) {
            disk.space = space
            assertThrows(IOException::class.java) { journal.append(listOf(row("b$space"))) }
            assertFalse("b$space" in keys(journal))
            disk.space = Long.MAX_VALUE
            assertEquals(++revision, journal.append(listOf(row("c$space"))))
        }
        assertEquals(setOf("a") + (0 until length).map { "c$it" }, storedKeys())
    }

    @Test
    fun append_whoseForceFails_countsAsNeverWritten() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.failing += Operation.FORCE
        assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        assertEquals(setOf("a"), keys(journal))
        disk.failing.clear()
        assertEquals(2, journal.append(listOf(row("c"))))
        assertEquals(setOf("a", "c"), storedKeys())
    }

    @Test
    fun append_whosePartCannotBeRemoved_isRemovedByTheNext() {
        val journal = open()
        journal.append(listOf(row("a")))
        val length = path.fileSize()
        disk.failing += Operation.TRUNCATE
        disk.space = 20
        val failure = assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        assertEquals("TRUNCATE failed", failure.suppressed.single().message)
        assertEquals(length + 20, path.fileSize())
        assertEquals(setOf("a"), keys(journal))
        disk.space = Long.MAX_VALUE
        assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        disk.failing.clear()
        assertEquals(2, journal.append(listOf(row("c"))))
        assertEquals(setOf("a", "c"), storedKeys())
    }

    @Test
    fun append_whoseFailureIsFollowedByTheEndOfTheProcess_leavesTheConfirmedRows() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.failing += Operation.TRUNCATE
        disk.space = 20
        assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        assertEquals(setOf("a"), storedKeys())
    }

    @Test
    fun append_forcesOnce_withoutFsyncNever() {
        val journal = open()
        journal.load(0)
        val before = disk.forces
        repeat(5) { journal.append(listOf(row("a"), row("b"))) }
        assertEquals(before + 5, disk.forces)
        journal.close()
        val unforced = open(fsync = false)
        unforced.append(listOf(row("a")))
        assertEquals(before + 5, disk.forces)
    }

    @Test
    fun append_onAnInterruptedThread_failsAndWorksLater() {
        val journal = open()
        journal.append(listOf(row("a")))
        Thread.currentThread().interrupt()
        assertThrows(ClosedByInterruptException::class.java) { journal.append(listOf(row("b"))) }
        assertTrue(Thread.interrupted())
        assertEquals(2, journal.append(listOf(row("c"))))
        assertEquals(setOf("a", "c"), storedKeys())
    }

    @Test
    fun load_thatFails_worksLater() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.failing += Operation.READ
        assertThrows(IOException::class.java) { journal.load(0) }
        disk.failing.clear()
        assertEquals(setOf("a"), keys(journal))
    }

    @ParameterizedTest
    @EnumSource(names = ["OPEN", "READ", "TRUNCATE"])
    fun opening_thatFails_freesTheFileAndWorksLater(operation: Operation) {
        open().append(listOf(row("a")))
        close()
        path.writeBytes(path.readBytes() + ByteArray(3))
        disk.failing += operation
        val journal = open()
        assertThrows(IOException::class.java) { journal.load(0) }
        assertEquals(setOf("a"), Journal(path, fsync = true).use { keys(it) })
        disk.failing.clear()
        assertEquals(setOf("a"), keys(journal))
    }

    @ParameterizedTest
    @EnumSource(names = ["CREATE", "READ", "REPLACE"])
    fun snapshot_thatFails_leavesTheJournalAsItWas(operation: Operation) {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.failing += operation
        val revision = grow(journal)
        assertTrue(path.fileSize() > 90_000)
        assertNotNull(journal.snapshotFailure)
        assertFalse("checks.journal.snapshot" in files())
        disk.failing.clear()
        assertEquals(setOf("a", "big"), keys(journal))
        assertEquals(revision + 3, grow(journal))
        assertNull(journal.snapshotFailure)
        assertTrue(path.fileSize() < 90_000)
        assertEquals(setOf("a", "big"), storedKeys())
    }

    @Test
    fun snapshot_onAFullDisk_leavesTheJournalAsItWas() {
        val journal = open()
        val record = JournalCodec.batch(1, listOf(row("big", "t".repeat(30_000)))).remaining()
        journal.load(0)
        for (space in listOf(0L, 1L, 20_000L)) {
            disk.space = 3L * record + space
            grow(journal)
            assertNotNull(journal.snapshotFailure)
            assertThrows(IOException::class.java) { journal.append(listOf(row("b", "t".repeat(30_000)))) }
        }
        disk.space = Long.MAX_VALUE
        grow(journal)
        assertNull(journal.snapshotFailure)
        assertEquals(setOf("big"), storedKeys())
        assertEquals(setOf("checks.journal", "checks.journal.lock"), files())
    }

    @Test
    fun snapshot_keepsRevisions_alsoThatOfDeletedRows() {
        val journal = open()
        journal.append(listOf(row("a"), row("b")))
        journal.append(listOf(row("a", due = 5)))
        journal.append(listOf(row("c")))
        val last = grow(journal)
        assertTrue(path.fileSize() < 65_000)
        assertEquals(
            mapOf("a" to 2L, "b" to 1L, "c" to 3L, "big" to last),
            journal.load(0).associate { it.key to it.revision },
        )
        journal.append(listOf("a", "b", "c", "big").map(::deleted))
        val end = grow(journal).also { journal.append(listOf(deleted("big"))) } + 1
        close()
        val again = open()
        assertTrue(again.load(0).isEmpty())
        assertEquals(end + 1, again.append(listOf(row("a"))))
    }

    @Test
    fun snapshot_overAnUnfinishedOne_replacesIt() {
        open().append(listOf(row("a")))
        close()
        directory.resolve("checks.journal.snapshot").writeText("unfinished")
        val journal = open()
        assertEquals(setOf("a"), keys(journal))
        assertFalse("checks.journal.snapshot" in files())
        directory.resolve("checks.journal.snapshot").writeText("unfinished")
        grow(journal)
        assertNull(journal.snapshotFailure)
    }

    @Test
    fun snapshot_keepsTheFilePermissions() {
        val journal = open()
        journal.load(0)
        assumeTrue("posix" in path.fileSystem.supportedFileAttributeViews())
        for (permissions in listOf("rw-------", "rw-rw-rw-")) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions))
            grow(journal)
            assertNull(journal.snapshotFailure)
            assertEquals(permissions, PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
        }
    }

    @Test
    fun snapshot_ofALinkedFile_replacesTheFileAndNotTheLink() {
        val link = directory.resolve("link")
        open().append(listOf(row("a")))
        close()
        Files.createSymbolicLink(link, path)
        Journal(link, fsync = true, disk).use { grow(it) }
        assertTrue(Files.isSymbolicLink(link))
        assertEquals(setOf("a", "big"), storedKeys())
    }

    @Test
    fun tornTail_isCutOffWhenTheJournalIsOpened() {
        open().append(listOf(row("a")))
        close()
        val whole = path.readBytes()
        path.writeBytes(whole + bytesOf(JournalCodec.batch(2, listOf(row("b")))).dropLast(1))
        assertEquals(setOf("a"), keys(open()))
        assertArrayEquals(whole, path.readBytes())
    }

    @Test
    fun damage_leavesTheFileAsItWasAndFree() {
        open().append(listOf(row("a")))
        journal!!.append(listOf(row("b")))
        close()
        val bytes = path.readBytes()
        bytes[40]++
        path.writeBytes(bytes)
        repeat(2) {
            val damage = assertThrows(JournalDamagedException::class.java) { open().load(0) }
            assertEquals(path.toRealPath(), damage.path)
            assertEquals(JournalCodec.HEADER_BYTES.toLong(), damage.offset)
            assertThrows(JournalDamagedException::class.java) { journal!!.append(listOf(row("c"))) }
            assertArrayEquals(bytes, path.readBytes())
        }
        bytes[40]--
        path.writeBytes(bytes)
        assertEquals(setOf("a", "b"), keys(journal!!))
    }

    @Test
    fun damage_whileTheJournalIsOpen_isFoundBySnapshotsAndLoads() {
        val journal = open()
        journal.append(listOf(row("a")))
        val bytes = path.readBytes()
        bytes[bytes.size - 1]++
        path.writeBytes(bytes)
        grow(journal)
        assertEquals(JournalDamagedException::class.java, journal.snapshotFailure!!.javaClass)
        assertThrows(JournalDamagedException::class.java) { journal.load(0) }
        assertTrue(path.fileSize() > 90_000)
    }

    @Test
    fun append_toAFileThatAnotherHasCut_isRefused() {
        val journal = open()
        journal.append(listOf(row("a")))
        path.writeBytes(path.readBytes().copyOf(40))
        val refusal = assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        assertTrue("has 40 bytes" in refusal.message!!, refusal.message)
        assertEquals(40, path.fileSize())
    }

    @Test
    fun close_withoutUse_createsNothing() {
        open().close()
        assertFalse(path.exists())
        assertEquals(emptySet<String>(), files())
    }
}
