package baton.scheduler.journal

import baton.scheduler.JournalDamagedException
import java.nio.ByteBuffer
import java.nio.file.Path

/**
 * The contents of a journal.
 *
 * @property rows those that live, by the texts of their keys.
 * @property revision of the last batch.
 * @property isPaused whether the schedule is paused as a whole.
 * @property end of the last valid record; 0 if not even the header is whole.
 * @property snapshotRows the number of rows in the snapshot.
 * @property deletedRows how often a later batch deletes a row.
 */
internal class JournalContents(
    val rows: Map<String, JournalRow> = emptyMap(),
    val revision: Long = 0,
    val end: Long = 0,
    val snapshotEnd: Long = 0,
    val snapshotRows: Int = 0,
    val deletedRows: Int = 0,
    val isPaused: Boolean = false,
)

/*
 * How it works
 *
 * A crash can leave its mark only on the batch that was being written, which is the last record: its bytes are there in
 * part, in any order. Everything before it had been forced. Hence, of an invalid record:
 *
 *  - A valid record begins at any later byte: this one is damaged. Its length is not used to look for the next, because
 *    it may be damaged, too.
 *  - It begins before `confirmed`, the end of what is known to have been whole: it is damaged. At the start that is the
 *    snapshot, which was whole before it got its name, later what this process has written.
 *  - Its begin is in the sector in which the valid ones end, and is neither zeros, which a failure of the power leaves,
 *    nor the begin of a record that is cut or reaches into another sector: it is damaged. A disk writes a sector of 512
 *    bytes as a whole, so what is there was written like that. A record that is shorter than the file is cut if nothing
 *    but zeros follows from one of its sectors on: without fsync others came after it, and the power failed.
 *  - Otherwise it is a torn tail, and the journal ends before it. So damage of the last record alone may be taken for a
 *    torn tail, if that record is long.
 *
 * A valid record whose revision is not the next, or whose content is invalid, is refused as damage as well. So the
 * rows are never fewer than those of all confirmed batches, unless the end of the file is lost as if it had never been.
 *
 * A journal gets its name when it is whole. So no crash leaves one without a whole header, and that is damage as well,
 * but for an empty file, which may have been made to give the journal its permissions.
 */
/** Reads the first [limit] bytes of a journal. */
internal class JournalReader(private val path: Path, file: JournalFile, private val limit: Long) {
    private val window = JournalWindow(file, limit)

    fun read(confirmed: Long = 0): JournalContents {
        if (limit == 0L) return JournalContents()
        if (limit < JournalCodec.HEADER_BYTES) throw damaged(0, "the file has only $limit bytes, and a header has more")
        val header = orDamaged(0) { JournalCodec.readHeader(window.at(0, JournalCodec.HEADER_BYTES)) }
        val rows = LinkedHashMap<String, JournalRow>()
        var revision = header.revision
        var snapshotRows = 0
        var deletedRows = 0
        var isPaused = false
        var at = JournalCodec.HEADER_BYTES.toLong()
        while (at < limit) {
            val bytes = recordAt(at) ?: break
            val record = orDamaged(at) { JournalCodec.readRecord(bytes) }
            val isSnapshot = at < header.snapshotEnd
            val expected = if (isSnapshot) revision else revision + 1
            if (record.revision != expected)
                throw damaged(at, "the record has revision ${record.revision}, expected is $expected")
            for (row in record.rows) if (row.deleted) rows.remove(row.key) else rows[row.key] = row
            if (isSnapshot) snapshotRows += record.rows.size else deletedRows += record.rows.count { it.deleted }
            revision = record.revision
            isPaused = record.isPaused ?: isPaused
            at += bytes.remaining()
        }
        if (at < maxOf(confirmed, header.snapshotEnd)) throw damaged(at, "the record there is cut or invalid")
        val later = validRecordAfter(at)
        if (later != null) throw damaged(at, "the record there is invalid, and a valid one follows at offset $later")
        if (at < limit && !isTorn(at)) throw damaged(at, "the record there is invalid, and no crash leaves such a one")
        return JournalContents(rows, revision, at, header.snapshotEnd, snapshotRows, deletedRows, isPaused)
    }

    /** The bytes of the valid record at [position], or null. */
    private fun recordAt(position: Long): ByteBuffer? {
        val rest = limit - position
        if (rest < JournalCodec.FRAME_BYTES) return null
        val length = JournalCodec.recordBytes(window.at(position, JournalCodec.FRAME_BYTES))
        if (length == 0L || length > rest) return null
        return window.at(position, length.toInt()).takeIf(JournalCodec::isValid)
    }

    private fun validRecordAfter(invalid: Long): Long? {
        val last = limit - JournalCodec.FRAME_BYTES - JournalCodec.MIN_PAYLOAD_BYTES
        for (at in invalid + 1..last) if (window.int(at) == JournalCodec.MARKER && recordAt(at) != null) return at
        return null
    }

    /** Whether a crash can have left the bytes from [invalid] on, where no valid record is. */
    private fun isTorn(invalid: Long): Boolean {
        val sectorEnd = (invalid / SECTOR_BYTES + 1) * SECTOR_BYTES
        val begin = window.at(invalid, (minOf(sectorEnd, limit) - invalid).toInt())
        if (invalid % SECTOR_BYTES == 0L || isZero(begin)) return true
        if (begin.remaining() < JournalCodec.FRAME_BYTES) return JournalCodec.isBeginOfMarker(begin)
        val end = invalid + JournalCodec.recordBytes(begin)
        return end > limit || end == limit && limit > sectorEnd || isZeroFrom((end - 1) / SECTOR_BYTES * SECTOR_BYTES)
    }

    /** Whether all bytes from [sector] on are zeros. */
    private fun isZeroFrom(sector: Long): Boolean =
        (sector until limit step SECTOR_BYTES).all { isZero(window.at(it, minOf(SECTOR_BYTES, limit - it).toInt())) }

    private fun isZero(bytes: ByteBuffer) = (bytes.position() until bytes.limit()).all { bytes.get(it) == ZERO }

    private inline fun <T> orDamaged(offset: Long, read: () -> T): T =
        try {
            read()
        } catch (e: JournalSyntaxException) {
            throw damaged(offset, e.message).initCause(e)
        }

    private fun damaged(offset: Long, reason: String) =
        JournalDamagedException("journal $path cannot be read at offset $offset: $reason", path, offset)

    private companion object {
        const val SECTOR_BYTES = 512L
        const val ZERO = 0.toByte()
    }
}

/** A part of the file in memory, so that small records are not read one by one. */
private class JournalWindow(private val file: JournalFile, private val limit: Long) {
    private var bytes = ByteBuffer.allocate(0)
    private var start = 0L

    /** [length] bytes from [position], valid until the next call. They must be before the limit. */
    fun at(position: Long, length: Int): ByteBuffer {
        load(position, length)
        val first = (position - start).toInt()
        return bytes.duplicate().position(first).limit(first + length)
    }

    fun int(position: Long): Int {
        load(position, Int.SIZE_BYTES)
        return bytes.getInt((position - start).toInt())
    }

    private fun load(position: Long, length: Int) {
        if (position >= start && position + length <= start + bytes.limit()) return
        val size = minOf(maxOf(length, WINDOW_BYTES).toLong(), limit - position).toInt()
        bytes = if (size <= bytes.capacity()) bytes.clear().limit(size) else ByteBuffer.allocate(size)
        start = position
        file.read(bytes, position)
        bytes.rewind()
    }

    private companion object {
        const val WINDOW_BYTES = 1 shl 18
    }
}
