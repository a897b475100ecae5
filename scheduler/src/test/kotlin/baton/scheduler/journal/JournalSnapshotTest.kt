package baton.scheduler.journal

import baton.scheduler.JournalDamagedException
import baton.scheduler.journal.FaultyDisk.Operation
import java.io.IOException
import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions
import kotlin.io.path.fileSize
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Snapshots, also those that fail. */
internal class JournalSnapshotTest : JournalFixture() {
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

    /** The next batch took the snapshot for the file of another program. */
    @Test
    fun snapshot_whoseDirectoryCannotBeReadAfterTheReplacement_isTheJournal() {
        val journal = open()
        journal.append(listOf(row("a")))
        val away = directory.resolveSibling("${directory.fileName}-away")
        disk.afterReplace = {
            Files.move(directory, away)
            Files.createFile(directory)
        }
        val revision = grow(journal)
        Files.delete(directory)
        Files.move(away, directory)
        disk.afterReplace = {}
        assertEquals(revision + 1, journal.append(listOf(row("b"))))
        assertEquals(setOf("a", "b", "big"), storedKeys())
    }

    @Test
    fun snapshot_withoutMemory_leavesTheBatchConfirmedAndIsRepeated() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.failing += Operation.READ
        disk.failure = ::OutOfMemoryError
        val revision = grow(journal)
        assertEquals(OutOfMemoryError::class.java, journal.snapshotFailure!!.javaClass)
        disk.failing.clear()
        assertEquals(revision + 3, grow(journal))
        assertNull(journal.snapshotFailure)
        assertTrue(path.fileSize() < 90_000)
        assertEquals(setOf("a", "big"), storedKeys())
    }

    @Test
    fun snapshot_thatCannotBeForced_doesNotReplaceTheJournal() {
        val journal = open(fsync = false)
        journal.load(0)
        disk.failing += Operation.FORCE
        grow(journal)
        assertNotNull(journal.snapshotFailure)
        assertTrue(path.fileSize() > 90_000)
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
}
