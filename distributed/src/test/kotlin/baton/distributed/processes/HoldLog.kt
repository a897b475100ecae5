package baton.distributed.processes

import java.nio.MappedByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.Path
import java.nio.file.StandardOpenOption.CREATE
import java.nio.file.StandardOpenOption.READ
import java.nio.file.StandardOpenOption.WRITE
import java.util.concurrent.atomic.AtomicInteger

/**
 * What one process has held of a lock, in a mapped file, which survives a kill. The times are those of
 * [System.nanoTime], a clock that the processes of a machine share.
 */
internal class HoldLog(file: Path) {
    private val bytes: MappedByteBuffer =
        FileChannel.open(file, CREATE, READ, WRITE).use {
            it.map(FileChannel.MapMode.READ_WRITE, 0, CAPACITY * RECORD.toLong())
        }
    private val next = AtomicInteger()

    /** The lease was held from [since] to [until] at least. */
    data class Hold(val token: Long, val since: Long, val until: Long, val isOpen: Boolean)

    /** The record of a new hold; null if there is no room. */
    fun begin(token: Long, since: Long): Int? {
        val at = next.getAndIncrement()
        if (at >= CAPACITY) return null
        bytes.putLong(at * RECORD + TOKEN, token)
        bytes.putLong(at * RECORD + SINCE, since)
        bytes.putLong(at * RECORD + UNTIL, since)
        bytes.putLong(at * RECORD, OPEN)
        return at
    }

    fun heldAt(record: Int, time: Long) {
        bytes.putLong(record * RECORD + UNTIL, time)
    }

    fun end(record: Int) {
        bytes.putLong(record * RECORD, ENDED)
    }

    val holds: List<Hold>
        get() = (0 until CAPACITY).takeWhile { bytes.getLong(it * RECORD) != 0L }.map { hold(it) }

    private fun hold(at: Int): Hold {
        val start = at * RECORD
        return Hold(
            bytes.getLong(start + TOKEN),
            bytes.getLong(start + SINCE),
            bytes.getLong(start + UNTIL),
            bytes.getLong(start) == OPEN,
        )
    }

    companion object {
        private const val CAPACITY = 50_000
        private const val RECORD = 32
        private const val TOKEN = 8
        private const val SINCE = 16
        private const val UNTIL = 24
        private const val OPEN = 1L
        private const val ENDED = 2L

        /** How many of the holds overlap at most. */
        fun mostAtOnce(holds: List<Hold>): Int {
            val steps = holds.flatMap { listOf(it.since to 1, it.until to -1) }
            var now = 0
            return steps.sortedWith(compareBy({ it.first }, { it.second })).maxOfOrNull {
                now += it.second
                now
            } ?: 0
        }
    }
}
