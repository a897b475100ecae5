package baton.scheduler.journal

import baton.scheduler.JournalDamagedException
import baton.scheduler.journal.FaultyDisk.Operation
import java.io.IOException
import java.nio.channels.ClosedByInterruptException
import kotlin.io.path.exists
import kotlin.io.path.fileSize
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The journal on disks that are full or fail, and what it leaves in its directory. */
internal class JournalLogTest : JournalFixture() {
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
        val journal = journalWithAPartOfB()
        assertEquals(setOf("a"), keys(journal))
        disk.space = Long.MAX_VALUE
        assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        disk.failing.clear()
        assertEquals(2, journal.append(listOf(row("c"))))
        assertEquals(setOf("a", "c"), storedKeys())
    }

    @Test
    fun append_whoseFailureIsFollowedByTheEndOfTheProcess_leavesTheConfirmedRows() {
        journalWithAPartOfB()
        assertEquals(setOf("a"), storedKeys())
    }

    /** Row a is confirmed. The disk becomes full while b is written, and the part cannot be removed. */
    private fun journalWithAPartOfB(): Journal {
        val journal = open()
        journal.append(listOf(row("a")))
        val length = path.fileSize()
        disk.failing += Operation.TRUNCATE
        disk.space = 20
        val failure = assertThrows(IOException::class.java) { journal.append(listOf(row("b"))) }
        assertEquals("TRUNCATE failed", failure.suppressed.single().message)
        assertEquals(length + 20, path.fileSize())
        return journal
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
