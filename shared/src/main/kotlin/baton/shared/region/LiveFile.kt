package baton.shared.region

import baton.files.OwnedFiles
import baton.shared.SharedRegionException
import java.io.IOException
import java.nio.channels.FileChannel
import java.nio.channels.FileLock
import java.nio.channels.OverlappingFileLockException
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermission
import java.util.concurrent.locks.LockSupport

/**
 * The side file `.<name>.live`, whose byte locks outlive no process: byte 0 is the init lock, byte 1 + slot the witness
 * of the slot.
 *
 * The system drops a process's locks on a file when the process closes any channel on that file. So the file is opened
 * once per JVM and never closed. Several class loaders may hold a copy of this library each, so the channel is kept
 * where all find it, in the system properties.
 *
 * Only `tryLock` is called: an interrupt of a thread in any other call would close the channel.
 */
internal class LiveFile private constructor(private val path: Path, private val channel: FileChannel) {
    /** The lock of the slot's byte; null if it is held, in this JVM or another process. */
    fun tryWitness(slot: Int): FileLock? = tryLock(1L + slot)

    /** Runs [action] under the lock that all openings and namings of the region share. */
    fun <T> initLocked(action: () -> T): T {
        val lock = initLock()
        try {
            return action()
        } finally {
            lock.release()
        }
    }

    private fun initLock(): FileLock {
        val deadline = System.nanoTime() + INIT_LOCK_NANOS
        var pause = FIRST_PAUSE_NANOS
        while (true) {
            tryLock(0)?.let {
                return it
            }
            if (System.nanoTime() - deadline > 0) {
                throw SharedRegionException("$path: another process has held the init lock for $INIT_LOCK_SECONDS s")
            }
            LockSupport.parkNanos(pause)
            pause = minOf(pause * 2, LAST_PAUSE_NANOS)
        }
    }

    private fun tryLock(position: Long): FileLock? =
        try {
            channel.tryLock(position, 1, false)
        } catch (_: OverlappingFileLockException) {
            null
        }

    companion object {
        private const val INIT_LOCK_SECONDS = 30L
        private const val INIT_LOCK_NANOS = INIT_LOCK_SECONDS * 1_000_000_000
        private const val FIRST_PAUSE_NANOS = 50_000L
        private const val LAST_PAUSE_NANOS = 2_000_000L

        /** A literal is one object for all class loaders. */
        private const val MONITOR_AND_PREFIX = "baton.shared.live:"

        /** Named after the region file at [region]. */
        fun of(region: Path, permissions: Set<PosixFilePermission>): LiveFile {
            val path = region.resolveSibling(".${region.fileName}.live")
            return synchronized(MONITOR_AND_PREFIX) { LiveFile(path, channelOf(path, permissions)) }
        }

        /** Asks for the file's identity before it opens the file, because a second channel could never be closed. */
        private fun channelOf(path: Path, permissions: Set<PosixFilePermission>): FileChannel {
            val known = OwnedFiles.identityOf(path)?.let { System.getProperties()["$MONITOR_AND_PREFIX$it"] }
            if (known is FileChannel && known.isOpen) return known
            val channel = OwnedFiles.openOrCreate(path, permissions)
            val identity = OwnedFiles.identityOf(path) ?: throw IOException("$path was removed")
            System.getProperties()["$MONITOR_AND_PREFIX$identity"] = channel
            return channel
        }
    }
}
