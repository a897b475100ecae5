package baton.shared

import baton.shared.core.SharedBarrierCore
import baton.shared.region.FileSystemCheck
import baton.shared.region.Members
import baton.shared.region.NameRequest
import baton.shared.region.ObjectKind
import baton.shared.region.RegionLayout
import baton.shared.region.SharedMemory
import baton.shared.waiting.Polling
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.ByteOrder
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import kotlin.concurrent.thread
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

class SharedRegionTest {
    @TempDir private lateinit var directory: Path

    private val path: Path
        get() = directory.resolve("app")

    /** The slot of a member that closes meanwhile is free, and the member may still write its entries of tables. */
    @Test
    fun open_whileAMemberUsesANameForTheFirstTime_waits() {
        val memory = SharedMemory.open(path, Polling)
        val request = NameRequest(ObjectKind.BARRIER, NameRequest.LOCKS, "b", number = 2)
        val next = CompletableFuture<SharedRegion>()
        assertThrows<SharedRegionException> {
            Members<SharedBarrierCore>(memory).open(request) {
                memory.close()
                next.completeAsync { SharedRegion.open(path) }
                assertThrows<TimeoutException> { next.get(100, TimeUnit.MILLISECONDS) }
                SharedBarrierCore(memory, it, "b", parties = 2)
            }
        }
        next.get(120, TimeUnit.SECONDS).close()
    }

    @Test
    fun bytes_ofTwoOpenRegions_areTheSameMemory() {
        SharedRegion.open(path).use { one ->
            SharedRegion.open(path).use { other ->
                val bytes = one.bytes("counter", 8)
                assertEquals(0, bytes.getLong(0))
                assertEquals(ByteOrder.nativeOrder(), bytes.order())
                bytes.putLong(0, 42)
                assertEquals(42, other.bytes("counter", 8).getLong(0))
            }
        }
        SharedRegion.open(path).use { assertEquals(42, it.bytes("counter", 8).getLong(0)) }
    }

    @Test
    fun bytes_ofManyNames_areZeroedAlignedAndApart() {
        SharedRegion.open(path).use { region ->
            val pieces = List(20) { region.bytes("piece $it", 1000 + it) }
            pieces.forEachIndexed { index, piece ->
                assertEquals(0, piece.alignmentOffset(0, 64))
                while (piece.hasRemaining()) assertEquals(0, piece.get().toInt())
                repeat(piece.capacity()) { piece.put(it, index.toByte()) }
            }
            pieces.forEachIndexed { index, piece ->
                repeat(piece.capacity()) { assertEquals(index.toByte(), piece.get(it)) }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0, 1024 * 1024 + 1, Int.MAX_VALUE])
    fun bytes_ofSizeOutOfRange_throwsAndAddsNoName(size: Int) {
        SharedRegion.open(path).use {
            val refusal = assertThrows<IllegalArgumentException> { it.bytes("counter", size) }
            assertEquals("size = $size of bytes 'counter', must be within 1..1048576", refusal.message)
            assertEquals(1024 * 1024, it.bytes("counter", 1024 * 1024).capacity())
        }
    }

    @ParameterizedTest
    @CsvSource("0, 0", "65, 65", "33, 66")
    fun name_ofLengthOutOfRange_throws(length: Int, bytes: Int) {
        val name = (if (bytes == length) "n" else "é").repeat(length)
        SharedRegion.open(path).use {
            val refusal = assertThrows<IllegalArgumentException> { it.bytes(name, 1) }
            assertEquals("name '$name' has $bytes bytes of UTF-8, must have 1..64", refusal.message)
        }
    }

    @Test
    fun name_of64Bytes_isTold() {
        SharedRegion.open(path).use { region ->
            listOf("n".repeat(64), "n".repeat(63), "é".repeat(32), "m").forEachIndexed { index, name ->
                region.bytes(name, 1).put(0, index.toByte())
            }
            assertEquals(0, region.bytes("n".repeat(64), 1).get(0))
            assertEquals(2, region.bytes("é".repeat(32), 1).get(0))
        }
    }

    @Test
    fun bytes_ofAnotherSize_throws() {
        SharedRegion.open(path).use {
            it.bytes("counter", 8)
            val refusal = assertThrows<SharedRegionException> { it.bytes("counter", 16) }
            assertEquals(
                "${path.toRealPath()}: 'counter' is a piece of bytes of size = 8, not a piece of bytes of size = 16",
                refusal.message,
            )
        }
    }

    @Test
    fun bytes_whileTheFileIsFull_throwsAndLeavesTheRest() {
        SharedRegion.open(path).use { region ->
            val last = generateSequence(0) { it + 1 }.first { !isAdded(region, "piece $it") }
            assertEquals(63, last)
            assertTrue(Files.size(path) <= 64 * 1024 * 1024)
            region.bytes("small", 64).putLong(0, 7)
            assertEquals(7, region.bytes("small", 64).getLong(0))
        }
    }

    /** The growth by one member looked like a cut to another one that read the size of the file before it. */
    @Test
    fun file_thatOneMemberExtends_isNotCutForAnother() {
        val path = directory.resolve("grows")
        val ends = List(2) { CompletableFuture<Throwable?>() }
        ends.forEachIndexed { member, end ->
            thread {
                val result = runCatching {
                    SharedRegion.open(path).use { region -> repeat(100) { region.bytes("$member $it", 64 * 1024) } }
                }
                end.complete(result.exceptionOrNull())
            }
        }
        ends.forEach { assertNull(it.get()) }
    }

    private fun isAdded(region: SharedRegion, name: String): Boolean =
        try {
            region.bytes(name, 1024 * 1024)
            true
        } catch (e: SharedRegionException) {
            assertTrue(e.message.orEmpty().contains("no room for piece of bytes '$name' of 1048576 bytes"), e.message)
            false
        }

    @Test
    fun names_above1024_areRefused() {
        SharedRegion.open(path).use { region ->
            repeat(1024) { region.bytes("$it", 1) }
            val refusal = assertThrows<SharedRegionException> { region.bytes("one more", 1) }
            assertTrue(
                refusal.message.orEmpty().endsWith("no room for piece of bytes 'one more', all 1024 names are in use")
            )
            region.bytes("1023", 1)
        }
    }

    @Test
    fun call_afterClose_throwsAndASecondCloseDoesNothing() {
        val region = SharedRegion.open(path)
        region.close()
        region.close()
        val refusal = assertThrows<SharedRegionException> { region.bytes("counter", 8) }
        assertEquals("${path.toRealPath()}: the region is closed", refusal.message)
    }

    @Test
    fun slot_ofAClosedRegion_isUsedAgain() {
        repeat(2000) { SharedRegion.open(path).use { region -> assertTrue("slot 1," in region.toString(), "$region") } }
    }

    @Test
    fun open_ofMoreThan1023_isRefused() {
        val regions = List(1023) { SharedRegion.open(path) }
        val refusal = assertThrows<SharedRegionException> { SharedRegion.open(path) }
        assertEquals("${path.toRealPath()}: all 1023 slots for members are taken", refusal.message)
        regions.forEach { it.close() }
        SharedRegion.open(path).close()
    }

    @ParameterizedTest
    @CsvSource(
        "0, 77, 8, is no shared region",
        "8, 2, 4, 'has layout version 2, not 1'",
        "12, 5, 4, was made by a machine of another byte order",
        "24, 5, 8, was made before the last boot of this machine; remove it",
        "40, 5, 4, has a damaged header",
        "56, 5, 8, has a damaged header",
        "16, 999999, 8, is cut to 266240 of 999999 bytes",
    )
    fun open_ofAForeignHeader_isRefusedAndLeavesTheFile(at: Long, value: Long, size: Int, reason: String) {
        SharedRegion.open(path).close()
        RandomAccessFile(path.toFile(), "rw").use {
            it.seek(at)
            val bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder())
            it.write((if (size == 4) bytes.putInt(value.toInt()) else bytes.putLong(value)).array(), 0, size)
        }
        assertRefused(reason)
    }

    @Test
    fun open_ofAnotherByteOrder_isRefused() {
        SharedRegion.open(path).close()
        RandomAccessFile(path.toFile(), "rw").use {
            val bytes = ByteBuffer.allocate(8).order(ByteOrder.nativeOrder())
            it.write(bytes.putLong(java.lang.Long.reverseBytes(RegionLayout.MAGIC)).array())
        }
        assertRefused("was made by a machine of another byte order")
    }

    @Test
    fun open_ofACutFile_isRefused() {
        SharedRegion.open(path).close()
        RandomAccessFile(path.toFile(), "rw").use { it.setLength(4096) }
        assertRefused("is cut to 4096 of 266240 bytes")
    }

    @ParameterizedTest
    @ValueSource(strings = ["x", "a file of text that is longer than a header's beginning"])
    fun open_ofAFileOfText_isRefusedAndLeavesTheFile(text: String) {
        Files.writeString(path, text)
        assertRefused("is no shared region")
    }

    @Test
    fun open_ofAFileOfZerosLargerThanANewOne_isRefused() {
        Files.write(path, ByteArray(300_000))
        assertRefused("is no shared region")
    }

    private fun assertRefused(reason: String) {
        val before = Files.readAllBytes(path)
        val refusal = assertThrows<SharedRegionException> { SharedRegion.open(path) }
        assertTrue(refusal.message.orEmpty().startsWith("${path.toRealPath()}: $reason"), refusal.message)
        assertTrue(before.contentEquals(Files.readAllBytes(path)))
    }

    @ParameterizedTest
    @ValueSource(longs = [0, 5, 20_000, RegionLayout.FIXED_BYTES.toLong()])
    fun open_ofAFileWhoseCreatorWasKilled_completesIt(size: Long) {
        RandomAccessFile(path.toFile(), "rw").use {
            it.setLength(size)
            if (size > 12) {
                it.seek(8)
                it.write(ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(1).array())
            }
        }
        SharedRegion.open(path).use { assertEquals(0, it.bytes("counter", 8).getLong(0)) }
    }

    @Test
    fun open_ofADirectoryOrInNone_isRefused() {
        val refusal = assertThrows<SharedRegionException> { SharedRegion.open(directory) }
        assertEquals("$directory: is no regular file", refusal.message)
        assertThrows<SharedRegionException> { SharedRegion.open(directory.resolve("none").resolve("app")) }
        assertThrows<SharedRegionException> { SharedRegion.open(Path.of("/")) }
    }

    @Test
    fun open_throughALink_isTheSameRegion() {
        val link = Files.createSymbolicLink(directory.resolve("link"), path)
        SharedRegion.open(path).use { one ->
            SharedRegion.open(link).use { other ->
                one.bytes("counter", 8).putLong(0, 5)
                assertEquals(5, other.bytes("counter", 8).getLong(0))
            }
        }
        assertFalse(Files.exists(directory.resolve(".link.live")))
    }

    @ParameterizedTest
    @CsvSource(
        "nfs, true",
        "nfs4, true",
        "cifs, true",
        "fuse.sshfs, true",
        "fuseblk, true",
        "9p, true",
        "tmpfs, false",
        "ext4, false",
        "overlay, false",
    )
    fun fileSystem_ofATypeThatIsNotLocalMemory_isRefused(type: String, isRefused: Boolean) {
        assertEquals(isRefused, FileSystemCheck.isRefused(type))
    }

    @Test
    fun open_byAnInterruptedThread_succeedsAndStaysInterrupted() {
        Thread.currentThread().interrupt()
        val region = SharedRegion.open(path)
        region.bytes("counter", 8).putLong(0, 3)
        assertTrue(Thread.interrupted())
        SharedRegion.open(path).use { assertEquals(3, it.bytes("counter", 8).getLong(0)) }
        region.close()
    }
}
