package baton.scheduler.journal

import baton.Priority
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleRow
import baton.scheduler.schedule.EntryData
import java.io.ByteArrayInputStream
import java.io.ByteArrayOutputStream
import java.io.DataInputStream
import java.io.DataOutputStream
import java.io.IOException
import java.io.UTFDataFormatException
import java.nio.ByteBuffer
import java.time.DateTimeException
import java.time.Instant
import java.util.Base64
import java.util.zip.CRC32C

/** A row whose key is the text of the `KeyCodec`. */
internal typealias JournalRow = ScheduleRow<String>

/** [revision] of the snapshot's last batch; the snapshot ends before [snapshotEnd]. */
internal class JournalHeader(val revision: Long, val snapshotEnd: Long)

/** @property isPaused whether the schedule is paused as a whole; null if the record does not change that. */
internal class JournalRecord(val revision: Long, val isPaused: Boolean?, val rows: List<JournalRow>)

/*
 * The format
 *
 * A file is a header, then records. All numbers are big-endian.
 *
 *   header   magic 8 "BATONJNL" · version 4 · revision 8 · snapshotEnd 8 · CRC32C 4 of all before it
 *   record   marker 4 · length 4 of the payload · CRC32C 4 of length and payload · payload
 *   payload  revision 8 · state 1 · count 4 · rows
 *   state    whether the schedule is paused as a whole: 0 as before · 1 no · 2 yes
 *   row      flags 2 · revision 8 · key, and unless deleted: trigger, then if due, and if it has an outcome, a time: of
 *            the last run; and if it has data: length 4 · Base64
 *   flags    bits 0 to 2 the level, from CRITICAL = 0 · 3 and 4 paused by, from USER = 1 · 5 deleted · 6 due · 7 data ·
 *            8 to 10 the outcome, from SUCCEEDED = 1 · the others are 0
 *   text     length 2 in bytes · modified UTF-8, which keeps every string, unpaired surrogates too
 *   time     second 8 · nanosecond 4
 *
 * The records before snapshotEnd are the snapshot: the rows that lived at `revision`, each with its own revision. Every
 * later record is one batch, whose revision is one more than that of the record before it. So a missing batch is
 * noticed, and a batch, being one record, is there as a whole or not at all.
 *
 * The marker is not needed to read records in order. It speeds up the search for a valid record behind an invalid one.
 * No text and no data can contain it, because neither modified UTF-8 nor Base64 has a byte FF.
 */
/** The bytes of a journal. Nothing here reads or writes a file. */
internal object JournalCodec {
    const val HEADER_BYTES = 32
    const val FRAME_BYTES = 12
    const val MIN_PAYLOAD_BYTES = 13
    const val MAX_PAYLOAD_BYTES = 1 shl 30
    const val MAX_TEXT_BYTES = 65_535
    const val MARKER = 0xFF4A524E.toInt()

    private const val MAGIC = 0x4241544F4E4A4E4C
    private const val VERSION = 2
    private const val LENGTH_AT = 4
    private const val CRC_AT = 8

    private const val LEVEL = 7
    private const val PAUSED_SHIFT = 3
    private const val PAUSED = 3 shl PAUSED_SHIFT
    private const val DELETED = 32
    private const val DUE = 64
    private const val DATA = 128
    private const val OUTCOME_SHIFT = 8
    private const val OUTCOME = 7 shl OUTCOME_SHIFT
    private const val ALL_FLAGS = LEVEL or PAUSED or DELETED or DUE or DATA or OUTCOME

    private const val RESUMED_STATE = 1
    private const val PAUSED_STATE = 2
    private const val MOST_DATA_CHARS = (EntryData.MOST_BYTES + 2) / 3 * 4

    /** The bytes of a journal without rows. */
    val EMPTY: ByteArray = header(JournalHeader(revision = 0, snapshotEnd = HEADER_BYTES.toLong())).array()

    fun header(header: JournalHeader): ByteBuffer {
        val bytes = ByteBuffer.allocate(HEADER_BYTES)
        bytes.putLong(MAGIC).putInt(VERSION).putLong(header.revision).putLong(header.snapshotEnd)
        return bytes.putInt(crc(bytes.duplicate().flip())).flip()
    }

    /** @throws JournalSyntaxException if [bytes] are no header. */
    fun readHeader(bytes: ByteBuffer): JournalHeader {
        val content = bytes.slice().limit(HEADER_BYTES - Int.SIZE_BYTES)
        if (bytes.getLong() != MAGIC) throw JournalSyntaxException("the file is no journal")
        val version = bytes.getInt()
        val header = JournalHeader(bytes.getLong(), bytes.getLong())
        if (bytes.getInt() != crc(content)) throw JournalSyntaxException("the header is invalid")
        if (version != VERSION)
            throw JournalSyntaxException("the format has version $version, and only $VERSION is known")
        if (header.revision < 0 || header.snapshotEnd < HEADER_BYTES)
            throw JournalSyntaxException("the header is invalid")
        return header
    }

    /** A record of [rows] as of [revision]. */
    fun batch(revision: Long, rows: List<JournalRow>, isPaused: Boolean? = null): ByteBuffer =
        record(revision, isPaused, rows) { revision }

    /** A part of a snapshot: [rows] keep their own revisions. */
    fun snapshot(revision: Long, rows: List<JournalRow>, isPaused: Boolean? = null): ByteBuffer =
        record(revision, isPaused, rows) { it.revision }

    private inline fun record(
        revision: Long,
        isPaused: Boolean?,
        rows: List<JournalRow>,
        revisionOf: (JournalRow) -> Long,
    ): ByteBuffer {
        val bytes = ByteArrayOutputStream()
        val out = DataOutputStream(bytes)
        out.writeInt(MARKER)
        repeat(2) { out.writeInt(0) }
        out.writeLong(revision)
        out.writeByte(if (isPaused == null) 0 else if (isPaused) PAUSED_STATE else RESUMED_STATE)
        out.writeInt(rows.size)
        for (row in rows) {
            out.writeRow(row, revisionOf(row))
            require(bytes.size() - FRAME_BYTES <= MAX_PAYLOAD_BYTES) {
                "${rows.size} rows need more than $MAX_PAYLOAD_BYTES bytes, the most for one batch"
            }
        }
        val record = ByteBuffer.wrap(bytes.toByteArray())
        record.putInt(LENGTH_AT, record.limit() - FRAME_BYTES)
        return record.putInt(CRC_AT, recordCrc(record))
    }

    private fun DataOutputStream.writeRow(row: JournalRow, revision: Long) {
        val due = if (row.deleted) null else row.nextDue
        val data = if (row.deleted) null else row.data
        val lastRun = if (row.deleted) null else row.lastRun
        val outcome = row.lastOutcome.takeIf { lastRun != null }
        var flags = row.priority.ordinal
        flags = flags or (numberOf(row.pausedBy) shl PAUSED_SHIFT) or (numberOf(outcome) shl OUTCOME_SHIFT)
        if (row.deleted) flags = flags or DELETED
        if (due != null) flags = flags or DUE
        if (data != null) flags = flags or DATA
        writeShort(flags)
        writeLong(revision)
        writeText("key", row.key)
        if (!row.deleted) writeText("trigger", row.trigger)
        due?.let { writeTime(it) }
        if (outcome != null) lastRun?.let { writeTime(it) }
        if (data != null) {
            EntryData.requireFits(data)
            val text = Base64.getEncoder().encode(data)
            writeInt(text.size)
            write(text)
        }
    }

    private fun numberOf(value: Enum<*>?): Int = if (value == null) 0 else value.ordinal + 1

    private fun DataOutputStream.writeTime(time: Instant) {
        writeLong(time.epochSecond)
        writeInt(time.nano)
    }

    private fun DataOutputStream.writeText(name: String, text: String) {
        try {
            writeUTF(text)
        } catch (_: UTFDataFormatException) {
            throw IllegalArgumentException(
                "$name = '${text.take(SHOWN_CHARS)}…' of ${text.length} characters needs more than $MAX_TEXT_BYTES " +
                    "bytes"
            )
        }
    }

    /** Whether the content of a [record] with a whole frame is whole, too. */
    fun isValid(record: ByteBuffer): Boolean = record.getInt(record.position() + CRC_AT) == recordCrc(record)

    /** Whether [begin] begins with the marker, or with as much of it as there is room for. */
    fun isBeginOfMarker(begin: ByteBuffer): Boolean {
        val length = minOf(begin.remaining(), Int.SIZE_BYTES)
        return begin.slice().limit(length) == ByteBuffer.allocate(Int.SIZE_BYTES).putInt(0, MARKER).limit(length)
    }

    /** The length of the record that begins with [frame]; 0 if there is none. */
    fun recordBytes(frame: ByteBuffer): Long {
        val payload = frame.getInt(frame.position() + LENGTH_AT)
        val isFrame = frame.getInt(frame.position()) == MARKER && payload in MIN_PAYLOAD_BYTES..MAX_PAYLOAD_BYTES
        return if (isFrame) FRAME_BYTES.toLong() + payload else 0
    }

    private fun recordCrc(record: ByteBuffer): Int {
        val start = record.position()
        val content = record.duplicate().position(start + FRAME_BYTES)
        val crc = CRC32C()
        crc.update(record.duplicate().limit(start + CRC_AT).position(start + LENGTH_AT))
        crc.update(content)
        return crc.value.toInt()
    }

    private fun crc(bytes: ByteBuffer): Int = CRC32C().apply { update(bytes) }.value.toInt()

    /** @throws JournalSyntaxException if neither [batch] nor [snapshot] makes the content of the valid [record]. */
    fun readRecord(record: ByteBuffer): JournalRecord {
        val bytes = ByteArrayInputStream(record.array(), record.arrayOffset() + record.position(), record.remaining())
        val input = DataInputStream(bytes)
        try {
            input.skipNBytes(FRAME_BYTES.toLong())
            val revision = input.readLong()
            val state = input.readUnsignedByte()
            if (state > PAUSED_STATE) throw JournalSyntaxException("the record has the unknown state $state")
            val count = input.readInt()
            val rows = ArrayList<JournalRow>()
            repeat(count) { rows += input.readRow() }
            if (count < 0 || bytes.available() > 0)
                throw JournalSyntaxException("the record has a wrong number of rows")
            return JournalRecord(revision, if (state == 0) null else state == PAUSED_STATE, rows)
        } catch (e: JournalSyntaxException) {
            throw e
        } catch (e: IOException) {
            throw JournalSyntaxException("the record has an unknown content: $e")
        } catch (e: DateTimeException) {
            throw JournalSyntaxException("the record has an unknown content: $e")
        }
    }

    private fun DataInputStream.readRow(): JournalRow {
        val flags = readUnsignedShort()
        val level = flags and LEVEL
        val pausedBy = flags and PAUSED ushr PAUSED_SHIFT
        val outcome = flags and OUTCOME ushr OUTCOME_SHIFT
        val isKnown = level < Priority.entries.size && outcome <= RunOutcome.entries.size
        if (flags and ALL_FLAGS != flags || !isKnown) throw JournalSyntaxException("a row has the unknown flags $flags")
        val revision = readLong()
        val key = readUTF()
        val isDeleted = flags and DELETED != 0
        val trigger = if (isDeleted) "" else readUTF()
        return ScheduleRow(
            key,
            trigger,
            Priority.entries[level],
            nextDue = if (flags and DUE != 0) readTime() else null,
            PausedBy.entries.getOrNull(pausedBy - 1),
            isDeleted,
            revision,
            lastRun = if (outcome != 0) readTime() else null,
            lastOutcome = RunOutcome.entries.getOrNull(outcome - 1),
            data = if (flags and DATA != 0) readData() else null,
        )
    }

    private fun DataInputStream.readTime(): Instant = Instant.ofEpochSecond(readLong(), readInt().toLong())

    private fun DataInputStream.readData(): ByteArray {
        val length = readInt()
        if (length !in 0..MOST_DATA_CHARS) throw JournalSyntaxException("a row has data of $length characters")
        val text = ByteArray(length)
        readFully(text)
        try {
            return Base64.getDecoder().decode(text)
        } catch (e: IllegalArgumentException) {
            throw JournalSyntaxException("a row has data that is no Base64: ${e.message}")
        }
    }

    private const val SHOWN_CHARS = 40
}

/** Bytes that [JournalCodec] does not write. */
internal class JournalSyntaxException(override val message: String) : IOException(message)
