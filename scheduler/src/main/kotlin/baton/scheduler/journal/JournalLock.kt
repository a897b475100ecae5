package baton.scheduler.journal

import baton.scheduler.JournalLockedException
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.channels.OverlappingFileLockException
import java.nio.file.FileAlreadyExistsException
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.WRITE

/*
 * How it works
 *
 * The lock is on a file of its own, beside the journal, because a snapshot replaces the journal. That file stays: if it
 * were deleted, one process could lock the deleted file and another its successor. It holds the number of the process
 * that uses the journal. The locked byte is far behind that text, because Windows lets no other process read what is
 * locked.
 *
 * By POSIX, a process loses its lock on a file as soon as it closes the file by any of its descriptors. So this process
 * must never open the file a second time while it holds the lock. HELD refuses that beforehand: a set of the whole JVM,
 * also for copies of this class by other class loaders, which only the system properties can hold.
 */
/** The exclusive use of a journal, until [close] or the end of the process. */
internal class JournalLock
private constructor(val journal: Path, private val file: Path, private val channel: FileChannel) : AutoCloseable {
    override fun close() {
        try {
            channel.close()
        } finally {
            HELD.remove(heldName(file))
        }
    }

    companion object {
        private const val LOCKED_BYTE = 1L shl 30
        private const val MAX_PID_BYTES = 32

        private val HELD = System.getProperties()

        private fun heldName(file: Path) = "baton.journal.lock.$file"

        /** @throws JournalLockedException if the journal is in use. */
        fun take(path: Path): JournalLock {
            val journal = realPath(path)
            val file = lockFileOf(journal)
            val own = ProcessHandle.current().pid()
            if (HELD.putIfAbsent(heldName(file), "$own") != null)
                throw locked(journal, own, "another store of this process, $own")
            var channel: FileChannel? = null
            var isHeld = false
            try {
                channel = FileChannel.open(file, READ, WRITE)
                isHeld = tryLock(channel)
                if (!isHeld) throw locked(journal, readPid(channel))
                writePid(channel, own)
                return JournalLock(journal, file, channel)
            } catch (e: Throwable) {
                channel?.close()
                HELD.remove(heldName(file))
                throw e
            }
        }

        /** The file behind a symbolic link, which a snapshot would otherwise replace by a file. */
        private fun realPath(path: Path): Path {
            if (Files.exists(path)) return path.toRealPath()
            val absolute = path.toAbsolutePath().normalize()
            val directory = absolute.parent ?: throw IOException("journal $absolute is a directory")
            return directory.toRealPath().resolve(absolute.fileName)
        }

        private fun lockFileOf(journal: Path): Path {
            val file = journal.resolveSibling("${journal.fileName}.lock")
            try {
                Files.createFile(file)
            } catch (_: FileAlreadyExistsException) {
                // From an earlier process, or the one that has the lock.
            }
            return file.toRealPath()
        }

        /** Other code of this process may hold the lock: then the JVM refuses it, and HELD does not contain it. */
        private fun tryLock(channel: FileChannel): Boolean =
            try {
                channel.tryLock(LOCKED_BYTE, 1, false) != null
            } catch (_: OverlappingFileLockException) {
                false
            }

        /** For messages only: a full disk must not keep the journal from being read. */
        private fun writePid(channel: FileChannel, pid: Long) {
            try {
                channel.truncate(0)
                channel.write(ByteBuffer.wrap("$pid\n".toByteArray()), 0)
            } catch (_: IOException) {
                // The lock holds all the same.
            }
        }

        private fun readPid(channel: FileChannel): Long? {
            val bytes = ByteBuffer.allocate(MAX_PID_BYTES)
            channel.read(bytes, 0)
            return String(bytes.array(), 0, bytes.position()).trim().toLongOrNull()
        }

        private fun locked(
            journal: Path,
            pid: Long?,
            user: String = if (pid == null) "another process" else "process $pid",
        ) = JournalLockedException("journal $journal is in use by $user", journal, pid)
    }
}
