package baton.shared.region

import baton.files.OwnedFiles
import baton.shared.SharedRegionException
import java.io.EOFException
import java.io.IOException
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.channels.FileChannel
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermission

/**
 * The mapped file: creates or joins it, and extends it. All under the init lock of the caller.
 *
 * A file is extended by writing zeros, so that a full disk is an exception here and no fault at a later access. It
 * never shrinks. A mapping lives as long as a buffer of it is referenced.
 *
 * @property words the fixed part.
 */
internal class RegionFile private constructor(val path: Path, val words: Words, private val identity: String?) {
    /** A zeroed piece of [size] bytes at a multiple of [RegionLayout.PIECE_ALIGNMENT]: its offset. */
    fun allocate(size: Int, what: String): Long {
        val start = words.getLong(RegionLayout.END_AT)
        val end = start + alignedTo(size.toLong(), RegionLayout.PIECE_ALIGNMENT.toLong())
        if (end > RegionLayout.MAX_REGION_BYTES) {
            val left = RegionLayout.MAX_REGION_BYTES - start
            throw SharedRegionException("$path: no room for $what of $size bytes, $left are left")
        }
        val oldSize = words.getLong(RegionLayout.SIZE_AT)
        if (end > oldSize) {
            val newSize = minOf(alignedTo(end, RegionLayout.GROWTH_BYTES.toLong()), RegionLayout.MAX_REGION_BYTES)
            try {
                onChannel(path) { writeZeros(it, oldSize, newSize) }
            } catch (e: IOException) {
                throw SharedRegionException("$path: no room for $what of $size bytes: ${e.message}", e)
            }
            words.setLong(RegionLayout.SIZE_AT, newSize)
        }
        words.setLong(RegionLayout.END_AT, end)
        return start
    }

    fun map(offset: Long, size: Int): ByteBuffer = map(path, offset, size)

    /** Why the file can no longer be used; null if it can. */
    fun damage(): String? {
        if (OwnedFiles.identityOf(path) != identity) return "the file was removed or replaced"
        // Without the fixed part the words must not be touched.
        val isFixedPartThere = Files.size(path) >= RegionLayout.FIXED_BYTES
        val expected = if (isFixedPartThere) words.getLong(RegionLayout.SIZE_AT) else RegionLayout.FIXED_BYTES.toLong()
        // After the expected size, because another process may extend the file in between.
        val size = Files.size(path)
        return if (size < expected) "the file was cut to $size of $expected bytes" else null
    }

    companion object {
        private const val ZEROS_BYTES = 64 * 1024

        fun openOrCreate(path: Path, permissions: Set<PosixFilePermission>): RegionFile =
            try {
                val size =
                    OwnedFiles.uninterrupted { OwnedFiles.openOrCreate(path, permissions).use { prepare(path, it) } }
                val words = Words(map(path, 0, RegionLayout.FIXED_BYTES))
                if (words.getLong(RegionLayout.MAGIC_AT) == 0L) format(words)
                check(path, words, size)
                RegionFile(path, words, OwnedFiles.identityOf(path))
            } catch (e: IOException) {
                throw SharedRegionException("$path: the file cannot be opened: $e", e)
            }

        /** Refuses foreign files before it writes; completes a new file, or one whose creator was killed. */
        private fun prepare(path: Path, file: FileChannel): Long {
            val size = file.size()
            if (size > 0) {
                val head = ByteArray(minOf(size, HEADER_PROBE_BYTES).toInt())
                readFully(file, head)
                if (size >= HEADER_PROBE_BYTES) {
                    checkMagic(path, ByteBuffer.wrap(head).order(ByteOrder.nativeOrder()))
                } else if (head.any { it != 0.toByte() }) {
                    throw SharedRegionException("$path: is no shared region")
                }
                if (size >= Long.SIZE_BYTES && ByteBuffer.wrap(head).getLong(0) != 0L)
                    return checkSize(path, head, size)
            }
            if (size > RegionLayout.FIXED_BYTES) throw SharedRegionException("$path: is no shared region")
            writeZeros(file, 0, RegionLayout.FIXED_BYTES.toLong())
            return RegionLayout.FIXED_BYTES.toLong()
        }

        private fun checkMagic(path: Path, head: ByteBuffer) {
            val magic = head.getLong(RegionLayout.MAGIC_AT)
            val version = head.getInt(RegionLayout.VERSION_AT)
            val order = head.getInt(RegionLayout.BYTE_ORDER_AT)
            val isUnfinished = magic == 0L && version in 0..RegionLayout.VERSION
            if (java.lang.Long.reverseBytes(magic) == RegionLayout.MAGIC) {
                throw SharedRegionException("$path: was made by a machine of another byte order")
            }
            if (!isUnfinished && magic != RegionLayout.MAGIC) throw SharedRegionException("$path: is no shared region")
            if (isUnfinished) return
            if (version != RegionLayout.VERSION) {
                throw SharedRegionException("$path: has layout version $version, not ${RegionLayout.VERSION}")
            }
            if (order != RegionLayout.BYTE_ORDER_TAG) {
                throw SharedRegionException("$path: was made by a machine of another byte order")
            }
        }

        /** Before the mapping, which would extend the file. */
        private fun checkSize(path: Path, head: ByteArray, actual: Long): Long {
            val buffer = ByteBuffer.wrap(head).order(ByteOrder.nativeOrder())
            val written = if (head.size < HEADER_PROBE_BYTES) 0 else buffer.getLong(RegionLayout.SIZE_AT)
            val expected = maxOf(written, RegionLayout.FIXED_BYTES.toLong())
            if (actual < expected) throw SharedRegionException("$path: is cut to $actual of $expected bytes")
            return actual
        }

        private fun format(words: Words) {
            val (bootHigh, bootLow) = ProcessIdentity.bootId()
            words.setInt(RegionLayout.VERSION_AT, RegionLayout.VERSION)
            words.setInt(RegionLayout.BYTE_ORDER_AT, RegionLayout.BYTE_ORDER_TAG)
            words.setLong(RegionLayout.SIZE_AT, RegionLayout.FIXED_BYTES.toLong())
            words.setLong(RegionLayout.BOOT_AT, bootHigh)
            words.setLong(RegionLayout.BOOT_AT + Long.SIZE_BYTES, bootLow)
            words.setInt(RegionLayout.SLOTS_AT, RegionLayout.SLOT_COUNT)
            words.setInt(RegionLayout.NAMES_AT, RegionLayout.NAME_CAPACITY)
            words.setLong(RegionLayout.END_AT, RegionLayout.FIXED_BYTES.toLong())
            words.setLong(RegionLayout.MAGIC_AT, RegionLayout.MAGIC)
        }

        private fun check(path: Path, words: Words, actual: Long) {
            val size = words.getLong(RegionLayout.SIZE_AT)
            val boot = words.getLong(RegionLayout.BOOT_AT) to words.getLong(RegionLayout.BOOT_AT + Long.SIZE_BYTES)
            if (boot != ProcessIdentity.bootId()) {
                throw SharedRegionException("$path: was made before the last boot of this machine; remove it")
            }
            val slots = words.getInt(RegionLayout.SLOTS_AT)
            val names = words.getInt(RegionLayout.NAMES_AT)
            val end = words.getLong(RegionLayout.END_AT)
            val isSound = slots == RegionLayout.SLOT_COUNT && names == RegionLayout.NAME_CAPACITY
            val sizes = end..minOf(actual, RegionLayout.MAX_REGION_BYTES)
            if (!isSound || end < RegionLayout.FIXED_BYTES || size !in sizes) {
                throw SharedRegionException(
                    "$path: has a damaged header: $slots slots, $names names, end $end of $size"
                )
            }
        }

        private fun readFully(file: FileChannel, head: ByteArray) {
            val bytes = ByteBuffer.wrap(head)
            while (bytes.hasRemaining()) if (file.read(bytes) < 0) throw EOFException("the file is being cut")
        }

        private fun writeZeros(file: FileChannel, from: Long, to: Long) {
            val zeros = ByteBuffer.allocate(ZEROS_BYTES)
            var at = from
            while (at < to) {
                zeros.clear().limit(minOf(to - at, ZEROS_BYTES.toLong()).toInt())
                at += file.write(zeros, at)
            }
        }

        private fun map(path: Path, offset: Long, size: Int): ByteBuffer =
            onChannel(path) {
                it.map(FileChannel.MapMode.READ_WRITE, offset, size.toLong()).order(ByteOrder.nativeOrder())
            }

        private inline fun <T> onChannel(path: Path, action: (FileChannel) -> T): T =
            OwnedFiles.uninterrupted { OwnedFiles.open(path).use(action) }

        private fun alignedTo(size: Long, unit: Long): Long = (size + unit - 1) / unit * unit

        private const val HEADER_PROBE_BYTES = 24L
    }
}
