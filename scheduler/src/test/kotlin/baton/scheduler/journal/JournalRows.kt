package baton.scheduler.journal

import baton.Priority
import baton.scheduler.JournalDamagedException
import baton.scheduler.PausedBy
import baton.scheduler.RunOutcome
import baton.scheduler.ScheduleRow
import java.nio.ByteBuffer
import java.nio.file.Path
import java.time.Instant
import java.util.zip.CRC32C
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertThrows

internal fun row(key: String, trigger: String = "every PT2M", due: Long? = null, revision: Long = 0): JournalRow =
    ScheduleRow(key, trigger, Priority.NORMAL, due?.let(Instant::ofEpochSecond), null, false, revision)

internal fun deleted(key: String): JournalRow = ScheduleRow(key, "", Priority.NORMAL, null, null, true, 0)

/** Rows have no equality of their own. */
internal fun <K : Any> texts(rows: Iterable<ScheduleRow<K>>): Set<String> = rows.mapTo(HashSet()) { it.toString() }

internal fun JournalRow.with(revision: Long): JournalRow = with(key, revision)

/** Any row, with the edges of every part. */
internal fun Random.nextRow(): JournalRow {
    val isDeleted = nextInt(5) == 0
    val hasRun = nextBoolean()
    return ScheduleRow(
        nextText(),
        if (isDeleted) "" else nextText(),
        Priority.entries.random(this),
        if (isDeleted) null else nextInstant(),
        (PausedBy.entries + null).random(this),
        isDeleted,
        listOf(0L, 1L, -1L, Long.MAX_VALUE, Long.MIN_VALUE, nextLong()).random(this),
        if (isDeleted || nextBoolean()) null else nextBytes(listOf(0, 1, 300, 65_536).random(this)),
        if (isDeleted || !hasRun) null else nextInstant() ?: Instant.EPOCH,
        if (isDeleted || !hasRun) null else RunOutcome.entries.random(this),
    )
}

private fun Random.nextText(): String =
    when (nextInt(4)) {
        0 -> listOf("", "\u0000", "\uFFFF", "\uD800", "\uDC00x", "𝄞", "ключ", "a\nb").random(this)
        1 -> String(CharArray(nextInt(300)) { nextInt(Char.MAX_VALUE.code).toChar() })
        else -> "check ${nextInt(20)}"
    }

private fun Random.nextInstant(): Instant? =
    when (nextInt(4)) {
        0 -> null
        1 -> listOf(Instant.MIN, Instant.MAX, Instant.EPOCH, Instant.EPOCH.minusNanos(1)).random(this)
        else -> Instant.ofEpochSecond(nextLong(-100_000_000_000, 100_000_000_000), nextLong(1_000_000_000))
    }

/** A record with a right frame around any payload. */
internal fun framed(payload: ByteArray): ByteArray {
    val record = ByteBuffer.allocate(JournalCodec.FRAME_BYTES + payload.size)
    record.putInt(JournalCodec.MARKER).putInt(payload.size).putInt(0).put(payload)
    val crc = CRC32C()
    crc.update(record.array(), 4, 4)
    crc.update(payload)
    return record.putInt(8, crc.value.toInt()).array()
}

internal fun bytesOf(buffer: ByteBuffer): ByteArray = ByteArray(buffer.remaining()).also(buffer.duplicate()::get)

internal fun readJournal(bytes: ByteArray, confirmed: Long = 0): JournalContents =
    JournalReader(Path.of("checks.journal"), ByteFile(bytes), bytes.size.toLong()).read(confirmed)

internal fun damageOf(bytes: ByteArray, confirmed: Long = 0): JournalDamagedException =
    assertThrows(JournalDamagedException::class.java) { readJournal(bytes, confirmed) }

/** A journal in memory, to read. */
private class ByteFile(private val bytes: ByteArray) : JournalFile {
    override val size: Long
        get() = bytes.size.toLong()

    override fun read(target: ByteBuffer, at: Long) {
        target.put(bytes, at.toInt(), target.remaining())
    }

    override fun write(source: ByteBuffer, at: Long) = throw UnsupportedOperationException()

    override fun truncate(length: Long) = throw UnsupportedOperationException()

    override fun force() = throw UnsupportedOperationException()

    override fun close() {}
}
