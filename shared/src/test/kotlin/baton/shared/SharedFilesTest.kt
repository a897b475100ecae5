package baton.shared

import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.attribute.PosixFilePermissions
import java.util.concurrent.TimeUnit
import kotlin.io.path.createSymbolicLinkPointingTo
import kotlin.io.path.exists
import kotlin.io.path.isSymbolicLink
import kotlin.io.path.readText
import kotlin.io.path.writeText
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** Other kinds of file at the names of a region's files, and the permissions of new files. */
@Tag("jdk")
@Timeout(120)
class SharedFilesTest {
    @TempDir private lateinit var directory: Path

    private val path: Path
        get() = directory.resolve("app")

    private val side: Path
        get() = directory.resolve(".app.live")

    @BeforeEach
    fun resolveDirectory() {
        directory = directory.toRealPath()
    }

    @Test
    fun open_ofALinkWhoseTargetIsMissing_isRefusedByBothNames() {
        val target = directory.resolve("missing/target")
        path.createSymbolicLinkPointingTo(target)
        val refusal = assertThrows<SharedRegionException> { SharedRegion.open(path) }
        assertEquals("$path -> $target: the target of the link is missing", refusal.message)
        assertTrue(path.isSymbolicLink())
        assertFalse(side.exists())
    }

    /** A region that followed the link would lock its target, and create the target if it is missing. */
    @Test
    fun sideFile_plantedAsALink_isRefusedAndItsTargetStays() {
        val victim = directory.resolve("victim")
        side.createSymbolicLinkPointingTo(victim)
        repeat(2) {
            val refusal = assertThrows<SharedRegionException> { SharedRegion.open(path) }
            assertTrue("$side: is no regular file" in refusal.message!!, refusal.message)
            assertFalse(path.exists())
            if (it == 0) assertFalse(victim.exists()) else assertEquals("content", victim.readText())
            victim.writeText("content")
        }
    }

    @Test
    fun fifo_isRefusedAndDoesNotHang() {
        for (file in listOf(path, side)) {
            makeFifo(file)
            val refusal = assertThrows<SharedRegionException> { SharedRegion.open(path) }
            assertTrue("$file: is no regular file" in refusal.message!!, refusal.message)
            Files.delete(file)
        }
    }

    /** Other users with read access could hold a lock on the byte that members lock to open the region. */
    @Test
    fun newFiles_areForTheirOwnerAlone() {
        assumePosix()
        SharedRegion.open(path).use { it.bytes("piece", 1024 * 1024) }
        for (file in listOf(path, side)) assertEquals("rw-------", permissions(file))
    }

    @Test
    fun newFiles_haveThePermissionsThatAreAskedFor_whateverTheUmask() {
        assumePosix()
        for (asked in listOf("rw-rw----", "rw-rw-rw-")) {
            val region = directory.resolve(asked)
            SharedRegion.open(region, options(asked)).close()
            for (file in listOf(region, directory.resolve(".$asked.live"))) assertEquals(asked, permissions(file))
        }
    }

    @Test
    fun existingFiles_keepTheirPermissions() {
        assumePosix()
        SharedRegion.open(path).close()
        SharedRegion.open(path, options("rw-rw-rw-")).close()
        for (file in listOf(path, side)) assertEquals("rw-------", permissions(file))
    }

    @Test
    fun options_withoutTheOwner_areRefused() {
        val refusal = assertThrows<IllegalArgumentException> { options("r--rw----") }
        assertEquals("permissions = r--rw----, must let the owner read and write", refusal.message)
    }

    @Test
    fun options_show_whatTheyAre() {
        assertEquals("SharedRegionOptions(preferred = FUTEX, permissions = rw-rw----)", "${options("rw-rw----")}")
    }

    private fun options(permissions: String) =
        SharedRegionOptions(permissions = PosixFilePermissions.fromString(permissions))

    private fun permissions(file: Path) = PosixFilePermissions.toString(Files.getPosixFilePermissions(file))

    private fun assumePosix() = assumeTrue("posix" in directory.fileSystem.supportedFileAttributeViews())

    private fun makeFifo(file: Path) {
        assumePosix()
        val process = ProcessBuilder("mkfifo", "$file").redirectErrorStream(true).start()
        assumeTrue(process.waitFor(2, TimeUnit.MINUTES) && process.exitValue() == 0)
    }
}
