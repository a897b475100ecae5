package baton.shared.region

import java.io.File
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path

/**
 * A process as its slot records it: the pid alone may be used again, and means nothing in another pid namespace.
 *
 * @property startTicks start time, in clock ticks since the boot on Linux: no clock step changes it. Elsewhere in
 *   milliseconds of the epoch.
 * @property namespace inode of the pid namespace; 0 if unknown.
 */
internal class ProcessIdentity(val pid: Int, val startTicks: Long, val namespace: Long) {
    /** Whether that process certainly runs. False also if it belongs to another namespace: the witness decides then. */
    fun isRunning(): Boolean {
        if (pid == 0 || namespace != current.namespace) return false
        return startTicks == (if (hasProc) ticksOf(pid) else startMillis(pid))
    }

    override fun toString(): String = "process $pid"

    companion object {
        private val hasProc = File("/proc/self/stat").canRead()

        val current: ProcessIdentity = run {
            val pid = ProcessHandle.current().pid().toInt()
            val ticks = if (hasProc) ticksOf(pid) else startMillis(pid)
            ProcessIdentity(pid, ticks ?: 0, pidNamespace())
        }

        /** Null if there is no such process, or a zombie, which no longer runs. */
        private fun ticksOf(pid: Int): Long? {
            val fields = read("/proc/$pid/stat")?.substringAfterLast(')')?.trim()?.split(' ') ?: return null
            val state = fields[0]
            return if (state == "Z" || state == "X" || state == "x") null
            else fields.getOrNull(START_FIELD)?.toLongOrNull()
        }

        private fun startMillis(pid: Int): Long? {
            val process = ProcessHandle.of(pid.toLong()).orElse(null) ?: return null
            return process.info().startInstant().map { it.toEpochMilli() }.orElse(0)
        }

        private fun pidNamespace(): Long =
            try {
                val link = Files.readSymbolicLink(Path.of("/proc/self/ns/pid")).toString()
                link.substringAfter('[', "").substringBefore(']').toLongOrNull() ?: 0
            } catch (_: IOException) {
                0
            } catch (_: UnsupportedOperationException) {
                0
            }

        /** 16 bytes as two numbers; zeros where the system has no such id. */
        fun bootId(): Pair<Long, Long> {
            val digits = read("/proc/sys/kernel/random/boot_id")?.trim()?.replace("-", "") ?: return 0L to 0L
            if (digits.length != BOOT_ID_DIGITS) return 0L to 0L
            return digits.take(16).toULong(16).toLong() to digits.drop(16).toULong(16).toLong()
        }

        /** By a stream, which an interrupt of the thread does not close. */
        private fun read(path: String): String? =
            try {
                File(path).readText()
            } catch (_: IOException) {
                null
            }

        /** Field 22 of the line, counted from the state, which is field 3. */
        private const val START_FIELD = 19
        private const val BOOT_ID_DIGITS = 32
    }
}
