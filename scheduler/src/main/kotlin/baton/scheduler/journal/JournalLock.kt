package baton.scheduler.journal

import baton.files.OwnedFiles
import baton.scheduler.JournalLockedException
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.channels.OverlappingFileLockException
import java.nio.file.Path
import java.util.UUID

/*
 * How it works
 *
 * The lock is on a file of its own, beside the journal, because a snapshot replaces the journal. That file stays: if it
 * were deleted, one process could lock the deleted file and another its successor. It holds the mark of the owner: the
 * number and the start of its process, and an identifier that no other mark has. The locked byte is far behind that
 * text, because Windows lets no other process read what is locked.
 *
 * By POSIX, a process loses its lock on a file as soon as it closes the file by any of its descriptors. So this class
 * must never open the file a second time while it holds the lock. HELD refuses that beforehand: a set of the whole JVM,
 * also for copies of this class by other class loaders, which only the system properties can hold. But any other code
 * of the process may do it, for example a copy of the directory, and nothing tells the owner.
 *
 * Hence the mark: a new owner writes its own before it reads the journal, and an owner looks for its own before each
 * use of the journal, and after each write before it confirms that. So
 *  - a new owner has read every batch that the former one confirmed: that write ended before the new mark was there;
 *  - the former owner writes no more once it has seen the new mark.
 * The rest is a former owner that is stopped between its look and its write, for so long that the new one has read the
 * journal and confirmed a batch meanwhile: it overwrites that batch.
 *
 * The mark is what the file holds after the attempt to write it: a full disk must not keep the journal from being read.
 */
/** The exclusive use of a journal, until [close] or the end of the process. One thread at a time. */
internal class JournalLock
private constructor(
    val journal: Path,
    private val file: Path,
    private var channel: FileChannel,
    private val mark: String,
) : AutoCloseable {
    /** @throws JournalLockedException if another process has taken the journal, because this one has lost its lock. */
    fun check() =
        OwnedFiles.uninterrupted {
            // An interrupt closes it, which frees the lock: the mark tells whether another has taken it since.
            if (!channel.isOpen) channel = lockedChannel(journal, file)
            val found = read(channel)
            if (found != mark) throw locked(journal, ownerOf(found), "; this process has lost its lock on $file")
        }

    override fun close() {
        try {
            channel.use { erase() }
        } finally {
            HELD.remove(heldName(file))
        }
    }

    /** A process that goes on without the journal must not be named as its user. */
    private fun erase() {
        try {
            OwnedFiles.uninterrupted { if (channel.isOpen && read(channel) == mark) channel.truncate(0) }
        } catch (_: IOException) {
            // The mark is for messages from here on.
        }
    }

    companion object {
        private const val LOCKED_BYTE = 1L shl 30
        private const val MAX_MARK_BYTES = 128

        private val HELD = System.getProperties()

        private fun heldName(file: Path) = "baton.journal.lock.$file"

        /** @throws JournalLockedException if the journal is in use. */
        fun take(path: Path): JournalLock {
            val journal = OwnedFiles.resolve(path)
            val file = journal.resolveSibling("${journal.fileName}.lock")
            val own = ProcessHandle.current()
            if (HELD.putIfAbsent(heldName(file), "${own.pid()}") != null)
                throw locked(journal, own.pid(), user = "another store of this process, ${own.pid()}")
            try {
                return OwnedFiles.uninterrupted {
                    val channel = lockedChannel(journal, file)
                    write(channel, "${own.pid()} ${startOf(own)} ${UUID.randomUUID()}\n")
                    JournalLock(journal, file, channel, read(channel))
                }
            } catch (e: Throwable) {
                HELD.remove(heldName(file))
                throw e
            }
        }

        private fun lockedChannel(journal: Path, file: Path): FileChannel {
            val channel = OwnedFiles.openOrCreate(file)
            try {
                if (!tryLock(channel)) throw locked(journal, ownerOf(read(channel)))
                return channel
            } catch (e: Throwable) {
                channel.use { throw e }
            }
        }

        /** Other code of this process may hold the lock: then the JVM refuses it, and HELD does not contain it. */
        private fun tryLock(channel: FileChannel): Boolean =
            try {
                channel.tryLock(LOCKED_BYTE, 1, false) != null
            } catch (_: OverlappingFileLockException) {
                false
            }

        private fun write(channel: FileChannel, mark: String) {
            try {
                val bytes = ByteBuffer.wrap(mark.toByteArray())
                channel.write(bytes, 0)
                channel.truncate(bytes.limit().toLong())
            } catch (e: IOException) {
                if (!channel.isOpen) throw e
            }
        }

        private fun read(channel: FileChannel): String {
            val bytes = ByteBuffer.allocate(MAX_MARK_BYTES)
            channel.read(bytes, 0)
            return String(bytes.array(), 0, bytes.position())
        }

        /** The process of [mark] if it still runs. A mark may be old, and its number used again. */
        private fun ownerOf(mark: String): Long? {
            val (pid, start) = mark.split(' ').map { it.toLongOrNull() }.takeIf { it.size > 1 } ?: return null
            val process = ProcessHandle.of(pid ?: return null).orElse(null) ?: return null
            return pid.takeIf { startOf(process) == start }
        }

        private fun startOf(process: ProcessHandle): Long =
            process.info().startInstant().map { it.toEpochMilli() }.orElse(0)

        private fun locked(
            journal: Path,
            pid: Long?,
            why: String = "",
            user: String = if (pid == null) "another process" else "process $pid",
        ) = JournalLockedException("journal $journal is in use by $user$why", journal, pid)
    }
}
