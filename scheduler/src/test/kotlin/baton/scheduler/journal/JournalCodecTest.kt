package baton.scheduler.journal

import baton.Priority
import baton.scheduler.ScheduleRow
import java.nio.ByteBuffer
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertArrayEquals
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

class JournalCodecTest {
    @ParameterizedTest
    @ValueSource(ints = [1, 2, 3, 4])
    fun snapshot_ofRandomRows_isReadAsWritten(number: Int) {
        val random = Random(number)
        repeat(500) {
            val rows = List(random.nextInt(6)) { random.nextRow() }
            val revision = random.nextLong()
            val bytes = JournalCodec.snapshot(revision, rows)
            assertEquals(bytes.remaining().toLong(), JournalCodec.recordBytes(bytes))
            assertTrue(JournalCodec.isValid(bytes))
            val record = JournalCodec.readRecord(bytes)
            assertEquals(revision, record.revision)
            assertEquals(rows.map { it.toString() }, record.rows.map { it.toString() })
        }
    }

    @Test
    fun data_andThePauseOfTheWhole_areReadAsTheyWere() {
        val data = ByteArray(65_536) { if (it % 4 == 0) -1 else "JRN"[it % 4 - 1].code.toByte() }
        val written = ScheduleRow("a", "x", Priority.LOW, null, null, false, 1, data)
        for (isPaused in listOf(null, false, true)) {
            val bytes = JournalCodec.batch(1, listOf(written), isPaused)
            val record = JournalCodec.readRecord(bytes)
            assertArrayEquals(data, record.rows.single().data)
            assertEquals(isPaused, record.isPaused)
            val markers = (1..bytes.limit() - 4).count { bytes.getInt(it) == JournalCodec.MARKER }
            assertEquals(0, markers, "a marker inside the record")
        }
    }

    @Test
    fun batch_ofRows_givesThemItsRevision() {
        val record = JournalCodec.readRecord(JournalCodec.batch(7, listOf(row("a", revision = 3), deleted("b"))))
        assertEquals(listOf(7L, 7L), record.rows.map { it.revision })
        assertEquals(listOf(false, true), record.rows.map { it.deleted })
    }

    @Test
    fun record_anywhereInABuffer_isReadAlike() {
        val bytes = bytesOf(JournalCodec.batch(7, listOf(row("a"))))
        val buffer = ByteBuffer.wrap(ByteArray(5) + bytes + ByteArray(3)).position(5).limit(5 + bytes.size)
        assertTrue(JournalCodec.isValid(buffer))
        assertEquals(listOf(row("a").with(7).toString()), JournalCodec.readRecord(buffer).rows.map { it.toString() })
    }

    @ParameterizedTest
    @ValueSource(longs = [0, 1, Long.MAX_VALUE])
    fun header_isReadAsWritten(revision: Long) {
        val header = JournalCodec.readHeader(JournalCodec.header(JournalHeader(revision, snapshotEnd = 32)))
        assertEquals(revision, header.revision)
        assertEquals(32, header.snapshotEnd)
    }

    @Test
    fun text_ofTheMostBytes_isReadAsWritten() {
        val longest = row("k".repeat(JournalCodec.MAX_TEXT_BYTES), "t".repeat(JournalCodec.MAX_TEXT_BYTES), 1)
        val record = JournalCodec.readRecord(JournalCodec.batch(1, listOf(longest)))
        assertEquals(longest.with(1).toString(), record.rows.single().toString())
    }

    @Test
    fun text_ofTooManyBytes_isRefusedByNameLengthAndBound() {
        val key =
            assertThrows(IllegalArgumentException::class.java) {
                JournalCodec.batch(1, listOf(row("ä".repeat(32_768))))
            }
        assertEquals("key = '${"ä".repeat(40)}…' of 32768 characters needs more than 65535 bytes", key.message)
        val trigger =
            assertThrows(IllegalArgumentException::class.java) {
                JournalCodec.batch(1, listOf(row("a", trigger = "t".repeat(65_536))))
            }
        assertTrue(trigger.message!!.startsWith("trigger = 'tttt"))
    }

    /** It was written, and then the journal could not be read any more. */
    @Test
    fun data_ofTooManyBytes_isRefused() {
        val row = ScheduleRow("a", "x", Priority.LOW, null, null, false, 1, ByteArray(65_537))
        val refusal = assertThrows(IllegalArgumentException::class.java) { JournalCodec.batch(1, listOf(row)) }
        assertEquals("data has 65537 bytes, must have at most 65536", refusal.message)
    }

    @Test
    fun header_withAnythingElse_isRefused() {
        val future = ByteBuffer.wrap(bytesOf(JournalCodec.header(JournalHeader(0, 32)))).putInt(8, 3)
        val crc = java.util.zip.CRC32C().apply { update(future.array(), 0, 28) }.value.toInt()
        val cases =
            mapOf(
                future.putInt(28, crc) to "the format has version 3, and only 2 is known",
                ByteBuffer.wrap("Not a journal, but a text that is long enough".toByteArray()) to
                    "the file is no journal",
                JournalCodec.header(JournalHeader(-1, 32)) to "the header is invalid",
                JournalCodec.header(JournalHeader(0, 31)) to "the header is invalid",
            )
        for ((bytes, reason) in cases) {
            val refusal =
                assertThrows(JournalSyntaxException::class.java) { JournalCodec.readHeader(bytes.duplicate()) }
            assertEquals(reason, refusal.message)
        }
    }

    @Test
    fun record_ofAnUnknownContent_isRefused() {
        val number = ByteArray(8)
        fun count(rows: Int, state: Int = 0) = ByteBuffer.allocate(5).put(state.toByte()).putInt(rows).array()
        fun flags(value: Int) = ByteBuffer.allocate(2).putShort(value.toShort()).array()
        fun data(length: Int) = ByteBuffer.allocate(4).putInt(length).array()
        val text = byteArrayOf(0, 1, 'a'.code.toByte())
        val instant = ByteBuffer.allocate(12).putLong(Long.MAX_VALUE).putInt(0).array()
        val payloads =
            mapOf(
                "fewer rows than counted" to number + count(1),
                "a negative count" to number + count(-1),
                "more than the counted rows" to number + count(0) + text,
                "an unknown flag" to number + count(1) + flags(2048) + number + text + text,
                "an unknown state" to number + count(0, state = 3),
                "an unknown outcome" to number + count(1) + flags(5 shl 8) + number + text + text,
                "data of a negative length" to number + count(1) + flags(128) + number + text + text + data(-1),
                "data that is too long" to number + count(1) + flags(128) + number + text + text + data(1 shl 20),
                "data that is cut" to number + count(1) + flags(128) + number + text + text + data(4),
                "data that is no Base64" to number + count(1) + flags(128) + number + text + text + data(1) + 65,
                "an unknown level" to number + count(1) + flags(5) + number + text + text,
                "malformed text" to number + count(1) + flags(32) + number + byteArrayOf(0, 1, -1),
                "a time beyond the last" to number + count(1) + flags(64) + number + text + text + instant,
            )
        for ((name, payload) in payloads) {
            val record = ByteBuffer.wrap(framed(payload))
            assertTrue(JournalCodec.isValid(record), name)
            assertThrows(JournalSyntaxException::class.java, { JournalCodec.readRecord(record) }, name)
        }
    }
}
