package baton.scheduler.journal

import baton.scheduler.JournalLockedException
import baton.scheduler.journal.FaultyDisk.Operation
import baton.scheduler.journal.crash.JournalCrashChild
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.fileSize
import kotlin.io.path.readBytes
import kotlin.io.path.writeBytes
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows

/**
 * A journal whose lock is lost: by POSIX, a process drops its locks on a file when it closes any descriptor of it, for
 * example after copying the directory.
 */
@Timeout(120)
internal class JournalOwnerTest : JournalFixture() {
    private val lock: Path
        get() = directory.resolve("checks.journal.lock")

    /** The batches that the second process had confirmed were cut off by the first. */
    @Test
    fun journal_takenByASecondProcess_afterACopyOfTheDirectory_isLeftToThat() {
        val journal = open()
        journal.append(listOf(row("first")))
        val backup = Files.createDirectory(directory.resolve("backup"))
        for (name in files() - "backup") Files.copy(directory.resolve(name), backup.resolve(name))
        val second = JournalCrashChild.start(path, batch = 1)
        try {
            second.inputReader().use { output ->
                assertEquals("1", output.readLine())
                val calls = listOf({ journal.append(listOf(row("late"))) }, { journal.load(0) }, { journal.load(9) })
                for (call in calls) {
                    val refusal = assertThrows<JournalLockedException> { call() }
                    assertEquals(second.pid(), refusal.pid)
                    assertTrue("this process has lost its lock" in refusal.message!!, refusal.message)
                }
                assertEquals("2", output.readLine())
            }
        } finally {
            second.toHandle().destroyForcibly()
            second.waitFor()
        }
        val confirmed = listOf(1L, 2L).flatMap(JournalCrashChild::batch).filter { !it.deleted }.map { it.key }
        val deleted = JournalCrashChild.batch(2).filter { it.deleted }.map { it.key }
        val stored = storedKeys()
        assertTrue(stored.containsAll(confirmed - deleted.toSet() + "first"), "$stored")
        assertTrue("late" !in stored)
    }

    @Test
    fun journal_afterACopyOfTheDirectory_goesOn_whileNoOtherTakesIt() {
        val journal = open()
        journal.append(listOf(row("a")))
        Files.readAllBytes(lock)
        journal.append(listOf(row("b")))
        assertEquals(setOf("a", "b"), keys(journal))
        assertEquals(setOf("a", "b"), storedKeys())
    }

    /**
     * A new owner reads the journal after it has written its mark. So it may not know a batch that is written later.
     */
    @Test
    fun append_whileAnotherTakesTheJournal_isNotConfirmed() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.beforeWrite = ::takeOver
        assertThrows<JournalLockedException> { journal.append(listOf(row("b"))) }
        disk.beforeWrite = {}
        assertThrows<JournalLockedException> { journal.append(listOf(row("c"))) }
        assertThrows<JournalLockedException> { grow(journal) }
    }

    @Test
    fun append_thatFailsWhileAnotherTakesTheJournal_cutsNothing() {
        val journal = open()
        journal.append(listOf(row("a")))
        val before = path.fileSize()
        disk.beforeWrite = ::takeOver
        disk.failing += Operation.FORCE
        assertThrows<IOException> { journal.append(listOf(row("b"))) }
        assertTrue(path.fileSize() > before)
    }

    @Test
    fun snapshot_whileAnotherTakesTheJournal_doesNotReplaceIt() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.beforeReplace = ::takeOver
        grow(journal)
        assertEquals(JournalLockedException::class.java, journal.snapshotFailure!!.javaClass)
        assertTrue(path.fileSize() > 90_000)
    }

    @Test
    fun close_afterAnotherHasTakenTheJournal_leavesItsMark() {
        val journal = open()
        journal.append(listOf(row("a")))
        takeOver()
        journal.close()
        assertEquals(MARK, Files.readString(lock))
    }

    /** The record that another program has added was cut off. */
    @Test
    fun append_toAFileWithARecordOfAnother_isRefusedAndLeavesIt() {
        val journal = open()
        journal.append(listOf(row("a")))
        val other = path.readBytes() + bytesOf(JournalCodec.batch(2, listOf(row("other"))))
        path.writeBytes(other)
        val refusal = assertThrows<IOException> { journal.append(listOf(row("b"))) }
        assertTrue("has ${other.size} bytes" in refusal.message!!, refusal.message)
        assertArrayEquals(other, path.readBytes())
    }

    /** An interrupt closes the channel that the thread reads or writes, and with it the lock. */
    @Test
    fun load_onAnInterruptedThread_keepsTheLockAgainstOthers() {
        open().append(listOf(row("a")))
        close()
        Thread.currentThread().interrupt()
        runCatching { open().load(0) }
        assertTrue(Thread.interrupted())
        journal!!.append(listOf(row("b")))
        val second = JournalCrashChild.start(path, batch = 1)
        try {
            val line = second.inputReader().use { it.readLine() }
            assertTrue("is in use by process ${ProcessHandle.current().pid()}" in line, line)
        } finally {
            second.destroyForcibly()
        }
    }

    private fun takeOver() = lock.writeText(MARK)

    private companion object {
        const val MARK = "1 2 of-another"
    }
}
