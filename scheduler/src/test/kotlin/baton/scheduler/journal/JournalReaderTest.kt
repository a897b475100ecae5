package baton.scheduler.journal

import java.nio.ByteBuffer
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Of the snapshot, if there is one. */
private const val FIRST_REVISION = 9L

private const val SECTOR_BYTES = 512

/** Reading of journals that are cut or damaged. */
class JournalReaderTest {
    /** A journal of a header, perhaps a snapshot, and batches. */
    enum class Sample(private val snapshotParts: Int) {
        FRESH(0),
        AFTER_A_SNAPSHOT(2);

        private val snapshot =
            List(snapshotParts) { part ->
                bytesOf(
                    JournalCodec.snapshot(FIRST_REVISION, listOf(row("s$part", revision = 3), row("a", revision = 4)))
                )
            }
        private val batches =
            listOf(
                    listOf(row("a", due = 10), row("b", "delay PT30S")),
                    listOf(row("b", due = 20), deleted("a"), row("c")),
                    listOf(deleted("c")),
                    listOf(row("a", "named nightly", due = 30)),
                )
                .mapIndexed { i, rows -> bytesOf(JournalCodec.batch(revision + i + 1, rows)) }

        private val revision: Long
            get() = if (snapshotParts == 0) 0 else FIRST_REVISION

        val records = snapshot + batches
        val starts = records.runningFold(JournalCodec.HEADER_BYTES) { at, record -> at + record.size }
        val snapshotEnd = starts[snapshotParts]
        val bytes =
            bytesOf(JournalCodec.header(JournalHeader(revision, snapshotEnd.toLong()))) +
                records.reduce(ByteArray::plus)

        /** The rows after so many records. */
        fun rows(count: Int): Set<String> {
            val rows = HashMap<String, JournalRow>()
            for (record in records.take(count)) {
                for (row in JournalCodec.readRecord(ByteBuffer.wrap(record)).rows) {
                    if (row.deleted) rows.remove(row.key) else rows[row.key] = row
                }
            }
            return texts(rows.values)
        }

        /** The number of the record that holds the byte at [offset]. */
        fun recordAt(offset: Int): Int = starts.indexOfLast { it <= offset }
    }

    @ParameterizedTest
    @EnumSource
    fun journal_whole_isReadToItsEnd(sample: Sample) {
        val contents = readJournal(sample.bytes)
        assertEquals(sample.rows(sample.records.size), texts(contents.rows.values))
        assertEquals(sample.bytes.size.toLong(), contents.end)
        assertEquals(sample.snapshotEnd.toLong(), contents.snapshotEnd)
        assertEquals(if (sample == Sample.FRESH) 4 else 13, contents.revision)
    }

    @ParameterizedTest
    @EnumSource
    fun journal_cutAtAnyByteBehindTheSnapshot_hasTheRowsOfItsWholeRecords(sample: Sample) {
        for (length in sample.snapshotEnd..sample.bytes.size) {
            val contents = readJournal(sample.bytes.copyOf(length))
            val whole = sample.recordAt(length)
            assertEquals(sample.rows(whole), texts(contents.rows.values), "of $length bytes")
            assertEquals(sample.starts[whole].toLong(), contents.end, "of $length bytes")
        }
    }

    /** An emptied or cut file was taken for a new one. */
    @ParameterizedTest
    @EnumSource
    fun journal_cutInTheHeader_isRefused(sample: Sample) {
        for (length in 1 until JournalCodec.HEADER_BYTES) {
            val damage = damageOf(sample.bytes.copyOf(length))
            assertEquals(0, damage.offset, "of $length bytes")
            assertTrue("has only $length bytes" in damage.message!!, damage.message)
        }
        assertEquals(0, readJournal(ByteArray(0)).end)
    }

    @Test
    fun journal_cutInTheSnapshot_isRefusedAtTheRecord() {
        val sample = Sample.AFTER_A_SNAPSHOT
        for (length in JournalCodec.HEADER_BYTES until sample.snapshotEnd) {
            val damage = damageOf(sample.bytes.copyOf(length))
            assertEquals(sample.starts[sample.recordAt(length)].toLong(), damage.offset, "of $length bytes")
        }
    }

    @ParameterizedTest
    @EnumSource
    fun journal_withAnyBitFlipped_isRefusedAtTheRecordOrLosesTheLastAlone(sample: Sample) {
        for (offset in sample.bytes.indices) for (bit in 0..7) {
            val bytes = sample.bytes.clone()
            bytes[offset] = (bytes[offset].toInt() xor (1 shl bit)).toByte()
            assertOneDamage(sample, bytes, offset)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun journal_withAnyByteOverwritten_isRefusedAtTheRecordOrLosesTheLastAlone(sample: Sample) {
        for (offset in sample.bytes.indices) for (value in listOf(0, 0xFF, 0x7F, 0x80)) {
            val bytes = sample.bytes.clone()
            if (bytes[offset] == value.toByte()) continue
            bytes[offset] = value.toByte()
            assertOneDamage(sample, bytes, offset)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun journal_withAnyLengthField_isRefusedAtTheRecordOrLosesTheLastAlone(sample: Sample) {
        val edges = listOf(Int.MIN_VALUE, -1, 0, 1, 11, 12, Int.MAX_VALUE, JournalCodec.MAX_PAYLOAD_BYTES)
        val skips = (sample.starts + sample.bytes.size).flatMap { listOf(it - 12, it, it + 12) }
        for (start in sample.starts.dropLast(1)) for (length in edges + skips.map { it - start }) {
            val bytes = sample.bytes.clone()
            if (ByteBuffer.wrap(bytes).getInt(start + 4) == length) continue
            ByteBuffer.wrap(bytes).putInt(start + 4, length)
            assertOneDamage(sample, bytes, start)
        }
    }

    private fun assertOneDamage(sample: Sample, bytes: ByteArray, offset: Int) {
        val number = sample.recordAt(offset)
        if (number == sample.records.size - 1 && looksCut(sample, bytes)) {
            val contents = readJournal(bytes)
            assertEquals(sample.rows(number), texts(contents.rows.values), "damage at $offset")
            assertEquals(sample.starts[number].toLong(), contents.end, "damage at $offset")
        } else {
            val expected = if (offset < JournalCodec.HEADER_BYTES) 0 else sample.starts[number]
            val damage = damageOf(bytes)
            assertEquals(expected.toLong(), damage.offset, "damage at $offset")
            assertTrue("checks.journal" in damage.message!! && "offset $expected:" in damage.message!!, damage.message)
        }
    }

    /** Whether the last record, all of whose bytes are in the sector of the one before, says that it is longer. */
    private fun looksCut(sample: Sample, bytes: ByteArray): Boolean {
        val last = ByteBuffer.wrap(bytes).position(sample.starts[sample.records.size - 1])
        return JournalCodec.recordBytes(last) > last.remaining()
    }

    /** A flipped bit cut off the last batch, which was confirmed, without a word. */
    @Test
    fun lastRecord_damagedWithinASector_isRefused() {
        for (offset in listOf(0, 3, 8, 11, 12, 20, 30)) {
            val sample = Sample.FRESH
            val bytes = sample.bytes.clone()
            bytes[sample.starts[3] + offset]++
            val damage = damageOf(bytes)
            assertEquals(sample.starts[3].toLong(), damage.offset)
            assertTrue("no crash leaves such a one" in damage.message!!, damage.message)
        }
    }

    @Test
    fun damage_withAValidRecordFarBehind_namesBothOffsets() {
        val sample = Sample.FRESH
        val last = sample.starts[3]
        val bytes = sample.bytes.clone()
        bytes.fill(0, sample.starts[1], last)
        assertEquals(
            "journal checks.journal cannot be read at offset ${sample.starts[1]}: " +
                "the record there is invalid, and a valid one follows at offset $last",
            damageOf(bytes).message,
        )
    }

    @Test
    fun tail_ofAnyGarbageInAnotherSector_isCut() {
        val last = row("fills the sector")
        val filler = SECTOR_BYTES - Sample.FRESH.bytes.size - JournalCodec.batch(5, listOf(last)).remaining()
        val record = bytesOf(JournalCodec.batch(5, listOf(row(last.key, last.trigger + "t".repeat(filler)))))
        val whole = Sample.FRESH.bytes + record
        assertEquals(SECTOR_BYTES, whole.size)
        val rows = texts(readJournal(whole).rows.values)
        val random = Random(1)
        val marker = ByteBuffer.allocate(4).putInt(JournalCodec.MARKER).array()
        repeat(300) {
            val tail = if (it % 3 == 0) ByteArray(it) else random.nextBytes(it)
            for (garbage in listOf(tail, marker + tail, tail + marker)) {
                val contents = readJournal(whole + garbage)
                assertEquals(whole.size.toLong(), contents.end)
                assertEquals(rows, texts(contents.rows.values))
            }
        }
    }

    @Test
    fun tail_ofZeros_isCut() {
        val bytes = Sample.FRESH.bytes
        for (length in 1..2000) assertEquals(bytes.size.toLong(), readJournal(bytes + ByteArray(length)).end)
    }

    /** Without fsync a power failure may leave the begin of a batch, and no byte of those behind it. */
    @Test
    fun tail_ofZerosInsideABatchThatOthersFollow_isCut() {
        val bytes = Sample.FRESH.bytes
        val batch = bytesOf(JournalCodec.batch(5, List(4) { row("tail $it", "t".repeat(500)) }))
        val next = bytesOf(JournalCodec.batch(6, listOf(row("next"))))
        for (sectors in 1..(bytes.size + batch.size) / SECTOR_BYTES) for (length in listOf(1, next.size, 5000)) {
            val torn = (bytes + batch + ByteArray(length)).also { it.fill(0, sectors * SECTOR_BYTES) }
            assertEquals(bytes.size.toLong(), readJournal(torn).end)
        }
        // A file system may have given the journal much room at once. A read of it for each byte would never end.
        val roomy = (bytes + batch + ByteArray(8 shl 20)).also { it.fill(0, bytes.size + SECTOR_BYTES) }
        assertEquals(bytes.size.toLong(), readJournal(roomy).end)
        // A disk writes no part of a sector.
        val damaged = (bytes + batch + ByteArray(5000)).also { it.fill(0, bytes.size + batch.size - 1) }
        assertEquals(bytes.size.toLong(), damageOf(damaged).offset)
    }

    @Test
    fun tail_ofGarbageInTheSectorOfTheLastRecord_isRefused() {
        val bytes = Sample.FRESH.bytes
        for (garbage in listOf(ByteArray(1) { 1 }, ByteArray(40) { 7 }, ByteArray(2000) { 7 })) {
            assertEquals(bytes.size.toLong(), damageOf(bytes + garbage).offset)
        }
    }

    /**
     * A failure of the power: some sectors of the last record are written, and the others hold anything, but for the
     * one with confirmed bytes.
     */
    @Test
    fun tail_writtenInAnyOrder_isCut() {
        val sample = Sample.FRESH
        val last = bytesOf(JournalCodec.batch(5, List(40) { row("tail $it", "t".repeat(500)) }))
        val random = Random(2)
        repeat(300) {
            val bytes = sample.bytes + last
            val sectors = (sample.bytes.size / SECTOR_BYTES)..(bytes.size - 1) / SECTOR_BYTES
            for (sector in sectors.filter { random.nextInt(4) == 0 } + sectors.random(random)) {
                val start = maxOf(sector * SECTOR_BYTES, sample.bytes.size)
                val end = minOf((sector + 1) * SECTOR_BYTES, bytes.size)
                val isOld = start % SECTOR_BYTES != 0
                val stale = if (isOld || random.nextBoolean()) ByteArray(end - start) else random.nextBytes(end - start)
                stale.copyInto(bytes, start)
            }
            val contents = readJournal(bytes)
            assertEquals(sample.bytes.size.toLong(), contents.end)
            assertEquals(sample.rows(sample.records.size), texts(contents.rows.values))
        }
    }

    @Test
    fun record_invalidAmongConfirmedOnes_isRefusedAlsoAtTheEnd() {
        val sample = Sample.FRESH
        val bytes = sample.bytes.clone()
        bytes[bytes.size - 1]++
        assertEquals(sample.starts[3].toLong(), damageOf(bytes, confirmed = bytes.size.toLong()).offset)
    }

    @ParameterizedTest
    @EnumSource
    fun record_missingRepeatedOrMoved_isRefusedAtItsPlace(sample: Sample) {
        val first = sample.records.size - 4
        val batches = sample.records.drop(first)
        val header = sample.bytes.copyOf(sample.snapshotEnd)
        val wrongs = mapOf(1 to listOf(0, 2, 3), 2 to listOf(0, 1, 1, 2, 3), 0 to listOf(1, 0, 2, 3))
        for ((place, order) in wrongs) {
            val damage = damageOf(header + order.map(batches::get).reduce(ByteArray::plus))
            assertEquals(sample.starts[first + place].toLong(), damage.offset)
            assertTrue("expected is ${sample.revisionBefore + place + 1}" in damage.message!!, damage.message)
        }
    }

    private val Sample.revisionBefore: Long
        get() = if (this == Sample.FRESH) 0 else FIRST_REVISION

    @Test
    fun record_ofAnUnknownContent_isRefusedAlsoAtTheEnd() {
        val damage = damageOf(Sample.FRESH.bytes + framed(ByteArray(13)))
        assertEquals(Sample.FRESH.bytes.size.toLong(), damage.offset)
    }

    @Test
    fun records_longerThanTheWindow_areReadAndFoundBehindDamage() {
        val big = List(8) { row("big $it", "t".repeat(60_000)) }
        val records = List(4) { bytesOf(JournalCodec.batch(it + 1L, big + row("n$it"))) }
        val bytes = JournalCodec.EMPTY + records.reduce(ByteArray::plus)
        assertEquals(12, readJournal(bytes).rows.size)
        val second = JournalCodec.HEADER_BYTES + records[0].size
        bytes[second + 100]++
        assertEquals(second.toLong(), damageOf(bytes).offset)
        val lastAt = bytes.size - records[3].size
        assertEquals(
            lastAt.toLong(),
            readJournal(JournalCodec.EMPTY + records.reduce(ByteArray::plus).also { it[it.size - 1]++ }).end,
        )
    }
}
