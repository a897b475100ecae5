package baton.scheduler.journal

import baton.scheduler.JournalLockedException
import java.io.IOException
import java.net.StandardProtocolFamily
import java.net.UnixDomainSocketAddress
import java.nio.channels.FileChannel
import java.nio.channels.ServerSocketChannel
import java.nio.file.Files
import java.nio.file.LinkOption.NOFOLLOW_LINKS
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.WRITE
import java.nio.file.attribute.BasicFileAttributes
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.TimeUnit
import kotlin.io.path.createDirectory
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.deleteExisting
import kotlin.io.path.exists
import kotlin.io.path.isDirectory
import kotlin.io.path.isSymbolicLink
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.ValueSource

/** Other kinds of file at the names of a journal's files, and the permissions of new files. */
internal class JournalFilesTest : JournalFixture() {
    enum class Kind {
        DIRECTORY,
        FIFO,
        DEVICE,
        SOCKET,
    }

    private val lock: Path
        get() = directory.resolve("checks.journal.lock")

    /** A device was replaced by an empty file, and a write to it before that was lost. */
    @ParameterizedTest
    @EnumSource
    fun journal_thatIsNoRegularFile_isRefusedAndStays(kind: Kind) {
        make(kind, path)
        val before = attributes()
        val refusal = assertThrows<IOException> { open().load(0) }
        assertEquals("${path.toRealPath()}: is no regular file", refusal.message)
        assertThrows<IOException> { journal!!.append(listOf(row("a"))) }
        assertEquals(before.fileKey(), attributes().fileKey())
        assertEquals(setOf("checks.journal"), files())
    }

    @Test
    fun journal_behindALinkWhoseTargetIsMissing_isRefusedByBothNames() {
        val target = directory.resolve("missing/target")
        path.createSymbolicLinkPointingTo(target)
        val refusal = assertThrows<IOException> { open().load(0) }
        assertEquals("$path -> $target: the target of the link is missing", refusal.message)
        assertTrue(path.isSymbolicLink())
        assertEquals(setOf("checks.journal"), files())
    }

    @ParameterizedTest
    @ValueSource(strings = ["checks.journal.lock", "checks.journal.snapshot"])
    fun sideFile_plantedAsALink_isRefusedAndItsTargetStays(name: String) {
        val victim = directory.resolve("victim").apply { writeText("content") }
        val planted = directory.resolve(name).createSymbolicLinkPointingTo(victim)
        val refusal = assertThrows<IOException> { open().load(0) }
        assertEquals("${planted.parent.toRealPath().resolve(name)}: is no regular file", refusal.message)
        assertEquals("content", victim.readText())
        assertTrue(planted.isSymbolicLink())
    }

    @Test
    fun snapshot_whoseNameIsADirectory_isRefusedAndTheDirectoryStays() {
        val planted = directory.resolve("checks.journal.snapshot").createDirectory()
        assertThrows<IOException> { open().load(0) }
        assertTrue(planted.isDirectory())
    }

    /** The rows went to a file that had no name any more, or a snapshot replaced the new one. */
    @ParameterizedTest
    @EnumSource(names = ["DIRECTORY", "FIFO"])
    fun journal_replacedWhileItIsOpen_isLeftToWhatIsThere(kind: Kind) {
        val journal = open()
        journal.append(listOf(row("a")))
        path.deleteExisting()
        make(kind, path)
        val before = attributes()
        val real = path.parent.toRealPath().resolve("checks.journal")
        val refusal = assertThrows<IOException> { grow(journal) }
        assertEquals("journal $real was removed or replaced by another program", refusal.message)
        assertEquals(before.fileKey(), attributes().fileKey())
    }

    @Test
    fun snapshot_ofAJournalReplacedMeanwhile_doesNotReplaceTheOther() {
        val journal = open()
        journal.append(listOf(row("a")))
        disk.beforeReplace = {
            path.deleteExisting()
            path.writeText("of another program")
        }
        grow(journal)
        assertEquals("of another program", path.readText())
        assertTrue("removed or replaced" in journal.snapshotFailure!!.message!!, "${journal.snapshotFailure}")
    }

    @Test
    fun newFiles_areForTheirOwnerAlone() {
        assumePosix()
        val journal = open()
        grow(journal)
        for (file in listOf(path, lock)) assertEquals("rw-------", permissions(file))
    }

    /** It may be pre-made with other permissions. */
    @Test
    fun emptyFile_keepsItsPermissions() {
        assumePosix()
        Files.createFile(path)
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw-r--"))
        grow(open())
        assertEquals("rw-rw-r--", permissions(path))
    }

    /** A lock that another program holds, for example a read lock of a user who may only read the file. */
    @Test
    fun refusal_namesNoProcess_thatHasClosedTheJournal() {
        open().append(listOf(row("a")))
        close()
        assertLockedBy(null)
    }

    @ParameterizedTest
    @ValueSource(strings = ["1", "1 2 of-another-boot", "999999999 1 x", "x", ""])
    fun refusal_namesNoProcess_thatDoesNotRun(mark: String) {
        lock.writeText(mark)
        assertLockedBy(null)
    }

    @Test
    fun refusal_namesNoProcess_whoseNumberIsUsedAgain() {
        lock.writeText("${ProcessHandle.current().pid()} 1 mark")
        assertLockedBy(null)
    }

    private fun assertLockedBy(pid: Long?) {
        FileChannel.open(lock, READ, WRITE).use { channel ->
            channel.lock(0, Long.MAX_VALUE, true).use {
                val refusal = assertThrows<JournalLockedException> { open().load(0) }
                assertEquals(pid, refusal.pid)
                assertTrue("in use by another process" in refusal.message!!, refusal.message)
                assertNull(refusal.cause)
            }
        }
    }

    private fun attributes() = Files.readAttributes(path, BasicFileAttributes::class.java, NOFOLLOW_LINKS)

    private fun permissions(file: Path) = PosixFilePermissions.toString(Files.getPosixFilePermissions(file))

    private fun assumePosix() = assumeTrue("posix" in directory.fileSystem.supportedFileAttributeViews())

    /** Makes nothing but a file in the directory of this test. */
    private fun make(kind: Kind, file: Path) {
        when (kind) {
            Kind.DIRECTORY -> file.createDirectory()
            Kind.FIFO -> assumeTrue(runs("mkfifo", "$file"))
            Kind.DEVICE -> assumeTrue(runs("mknod", "$file", "c", "1", "3"), "only root may make a device")
            Kind.SOCKET ->
                ServerSocketChannel.open(StandardProtocolFamily.UNIX).use { it.bind(UnixDomainSocketAddress.of(file)) }
        }
        assumeTrue(file.exists())
    }

    private fun runs(vararg command: String): Boolean =
        try {
            val process = ProcessBuilder(*command).redirectErrorStream(true).start()
            process.waitFor(2, TimeUnit.MINUTES) && process.exitValue() == 0
        } catch (_: IOException) {
            false
        }
}
