package baton.shared.processes

import baton.shared.SharedRegion
import java.io.File
import java.nio.file.Path
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Processes of two JDKs, with and without the futex, in one region; where there is a JDK of 22 or newer on Linux. */
@Tag("jdk")
class SharedMixedTest {
    @TempDir private lateinit var directory: Path
    private val children = ArrayList<Process>()
    private val newer: String? = homeOfNewerJdk()

    @BeforeEach
    fun assumeFutex() {
        val isKnown = System.getProperty("os.arch") in setOf("amd64", "aarch64")
        assumeTrue(newer != null && isKnown && System.getProperty("os.name") == "Linux", "no JDK with a futex")
    }

    @AfterEach
    fun endChildren() {
        for (child in children) {
            child.toHandle().destroyForcibly()
            child.waitFor()
        }
    }

    private fun start(mode: String, vararg args: String) =
        SharedChild.start(mode, directory.resolve("app"), *args).also { children += it }

    private fun startNewer(mode: String, vararg args: String, flags: List<String> = listOf(FLAG)) =
        SharedChild.start(mode, directory.resolve("app"), *args, java = newer.orEmpty(), flags = flags).also {
            children += it
        }

    private fun Process.expect(line: String) = assertEquals(line, inputReader().readLine())

    @Test
    fun waiting_ofANewerJdk_isTheFutexOnlyWhereNativeAccessIsEnabled() {
        startNewer("hammer").expect("hammering FUTEX")
        // A warning would be the first line.
        startNewer("hammer", flags = emptyList()).expect("hammering POLLING")
    }

    @Test fun increments_withTheFutex_areExact() = assertExact(List(4) { startNewer("count", "$EACH") })

    @Test
    fun increments_ofTwoJdksWithAndWithoutTheFutex_areExact() {
        val pollers = listOf(start("count", "$EACH"), startNewer("count", "$EACH", flags = emptyList()))
        assertExact(pollers + List(2) { startNewer("count", "$EACH") })
    }

    private fun assertExact(counters: List<Process>) {
        counters.forEach { it.expect("counted") }
        SharedRegion.open(directory.resolve("app")).use {
            val sections = GuardedSections(it.bytes("counter", GuardedSections.SIZE))
            assertEquals(EACH.toLong() * counters.size, sections.sections)
        }
    }

    @Test
    fun sleeper_ofAKilledHolder_getsTheLockMarked() {
        val holder = startNewer("hold")
        holder.expect("held")
        val waiter = startNewer("wait")
        waiter.expect("waiting")
        holder.toHandle().destroyForcibly()
        waiter.expect("locked true")
    }

    private companion object {
        const val EACH = 100_000
        const val FLAG = "--enable-native-access=ALL-UNNAMED"
        const val FIRST_WITH_FUTEX = 22

        fun homeOfNewerJdk(): String? {
            val own = System.getProperty("java.home")
            val named = System.getenv().filterKeys { it.startsWith("JAVA_HOME") }.values
            val installed = File("/usr/lib/jvm").listFiles().orEmpty().map { it.path }
            return (listOf(own) + named + installed).firstOrNull { versionOf(it) >= FIRST_WITH_FUTEX }
        }

        fun versionOf(home: String): Int {
            val release = File(home, "release")
            if (!release.canRead() || !File(home, "bin/java").canExecute()) return 0
            val line = release.readLines().firstOrNull { it.startsWith("JAVA_VERSION=") } ?: return 0
            return line.substringAfter('"').takeWhile { it.isDigit() }.toIntOrNull() ?: 0
        }
    }
}
