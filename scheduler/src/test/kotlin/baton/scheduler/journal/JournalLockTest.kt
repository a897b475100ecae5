package baton.scheduler.journal

import baton.scheduler.JournalLockedException
import baton.scheduler.journal.crash.JournalCrashChild
import java.io.File
import java.net.URLClassLoader
import java.nio.file.Path
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.api.io.TempDir

/** The lock of a journal beside another copy of the library in the same process. */
internal class JournalLockTest {
    @TempDir private lateinit var directory: Path

    @Test
    fun take_heldByAnotherClassLoader_isRefused_andLeavesItsLockToIt() {
        val path = directory.resolve("checks.journal")
        val urls = System.getProperty("java.class.path").split(File.pathSeparator).map { File(it).toURI().toURL() }
        URLClassLoader(urls.toTypedArray(), ClassLoader.getPlatformClassLoader()).use { other ->
            val companion = other.loadClass("baton.scheduler.journal.JournalLock").getField("Companion").get(null)
            val held = companion.javaClass.getMethod("take", Path::class.java).invoke(companion, path) as AutoCloseable
            held.use {
                val refusal = assertThrows<JournalLockedException> { JournalLock.take(path) }
                assertEquals(ProcessHandle.current().pid(), refusal.pid)
                assertIsLockedForOthers(path)
            }
        }
        JournalLock.take(path).close()
    }

    private fun assertIsLockedForOthers(path: Path) {
        val child = JournalCrashChild.start(path, 1)
        try {
            val output = child.inputReader().use { it.readLine() + it.readLine() }
            assertTrue("is in use by process ${ProcessHandle.current().pid()}" in output, output)
        } finally {
            child.destroyForcibly()
        }
    }
}
