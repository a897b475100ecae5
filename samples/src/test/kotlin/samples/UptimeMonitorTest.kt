package samples

import java.io.RandomAccessFile
import java.net.URI
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.arguments
import org.junit.jupiter.params.provider.MethodSource
import samples.support.LoopbackServer

@Timeout(300, threadMode = SEPARATE_THREAD)
class UptimeMonitorTest : UptimeRun() {
    private val state by lazy { directory.resolve("checks.journal") }

    @Test
    fun edit_takesEffect_isOnThePage_andCtrlC_sumsUp() {
        write("fast-01 http://fast.demo/01 60s HIGH", "fast-02 http://fast.demo/02 60s HIGH")
        val child = start("--for", "10m", "--serve", "0", "--metrics")
        val lines = child.inputReader()
        lines.awaitLine("watching 2 endpoints of $file")
        val page = URI(lines.awaitLine("/").substringAfter("the page is at "))

        write("fast-02 http://fast.demo/02 60s HIGH", "dead-01 http://dead.demo/01 60s CRITICAL")
        lines.awaitLine("$file was edited: 1 new or changed, 1 removed")
        lines.awaitLine("dead-01 down (no connection)")
        assertTrue("\"dead-01\"" in page.resolve("/status").toURL().readText())
        val gauge = "baton_capacity{name=\"checks\",type=\"Schedule\"} 200.0\n"
        assertTrue(gauge in page.resolve("/metrics").toURL().readText())
        val taken = run("--serve", "${page.port}")
        assertEquals("cannot start the server: port ${page.port}: Address already in use\n", taken.err)
        assertEquals(1, taken.exitCode)
        interrupt(child)

        val rest = lines.readText()
        assertTrue(child.waitFor(120, TimeUnit.SECONDS), rest)
        assertEquals("", child.errorReader().readText())
        assertTrue(gauge in rest, rest)
        assertTrue("\n2 endpoints, " in rest, rest)
        assertTrue("changes found                 1  the demo server made 1: the same" in rest, rest)
    }

    @Test
    fun edit_toAFileThatIsNone_isRefused_andTheOldListIsWatchedOn_inASmallHeap() {
        val text = "fast-01 http://fast.demo/01 60s HIGH"
        write(text)
        val child = start("--for", "10m", "--serve", "0", jvm = listOf("-Xmx64m"))
        val lines = child.inputReader()
        val status = URI(lines.awaitLine("/").substringAfter("the page is at ")).resolve("/status")
        val faults = child.errorReader()
        val edits =
            listOf<Pair<(Path) -> Any?, String>>(
                { other: Path ->
                    RandomAccessFile(other.toFile(), "rw").use { it.setLength(600L shl 20) }
                } to "$file is too large: a file of endpoints has at most 4,194,304 bytes",
                { other: Path ->
                    ProcessBuilder("mkfifo", "$other").start().waitFor()
                } to "$file is not a regular file",
                { other: Path -> Files.createDirectory(other) } to "$file is a directory, not a file of endpoints",
                { other: Path -> Files.write(other, byteArrayOf(-1)) } to "$file, line 1: this is not a text in UTF-8",
                { other: Path -> Files.writeString(other, "$text\n".repeat(1_000_000)) } to "at most 4,194,304 bytes",
                { other: Path -> Files.writeString(other, "\n".repeat(1_000_000)) } to "at most 100,000 lines",
                { other: Path ->
                    Files.writeString(other, "x http://fast.demo/01 60s HIGH\n\u001b[2J\n")
                } to "$file was edited, but because of what is wrong the endpoints stay as they were",
            )
        for ((create, fault) in edits) {
            val other = directory.resolve("other")
            create(other)
            if (Files.isDirectory(other)) Files.delete(file)
            Files.move(other, file, ATOMIC_MOVE)
            val printed = faults.awaitLine(fault)
            assertTrue("\u001b" !in printed, printed)
            val page = status.toURL().readText()
            assertEquals(1, Regex("\"name\"").findAll(page).count(), page)
            assertTrue("\"fast-01\"" in page, page)
            if (Files.isDirectory(file)) Files.delete(file)
        }
        write(text, "fast-02 http://fast.demo/02 60s HIGH")
        lines.awaitLine("$file was edited: 1 new or changed, 0 removed")
    }

    @Test
    fun kill_theNextRunCarriesOn() {
        val all = List(30) { "fast-$it http://fast.demo/$it 60s NORMAL" }.toTypedArray()
        write(*all)
        val child = start("--for", "10m", "--state", "$state")
        child.inputReader().awaitLine("watching 30 endpoints of $file")
        val second = run("--state", "$state")
        assertTrue(second.err.startsWith("cannot use the state $state: "), second.err)
        assertEquals(1, second.exitCode)
        child.destroyForcibly().waitFor()

        write(*all.copyOf(20).requireNoNulls())
        val third = run("--for", "3s", "--state", "$state")
        assertEquals("", third.err)
        assertTrue("found 30 endpoints in its state $state\n" in third.out, third.out)
        assertEquals(0, third.exitCode)

        // Those that are not in the file any more were removed when they were due.
        val fourth = run("--for", "1s", "--state", "$state")
        assertTrue("found 20 endpoints in its state $state\n" in fourth.out, fourth.out)
    }

    @Test
    fun state_inNoDirectory_isReported_exits1() {
        write("fast-01 http://fast.demo/01 60s HIGH")
        val nowhere = directory.resolve("nowhere")

        val outcome = run("--state", "${nowhere.resolve("checks.journal")}")

        assertEquals("cannot use the state $nowhere/checks.journal: there is no $nowhere\n", outcome.err)
        assertEquals(1, outcome.exitCode)
    }

    @Test
    fun flakyEndpoints_areNeverReported_thanksToRetryAndSecondCheck() {
        // The third request of the first path fails, the second and third of the other: a slow machine gets so far.
        write("once http://flaky.demo/14 60s NORMAL", "twice http://flaky.demo/15 60s NORMAL")

        val outcome = run("--for", "4s", "--speed", "600")

        val table = outcome.summary()
        assertTrue(table.getValue("retries") > 0, outcome.out)
        assertEquals(0, table["changes found"])
        assertEquals(2, table["up at the end"])
        assertEquals(0, outcome.exitCode)
    }

    @Test
    fun endpoint_withoutHead_isAskedByGet() {
        val http = LoopbackServer.create(0)
        http.createContext("/") { exchange ->
            exchange.sendResponseHeaders(if (exchange.requestMethod == "GET") 204 else 405, -1)
            exchange.close()
        }
        http.start()
        try {
            val url = "http://127.0.0.1:${http.address.port}/"
            write("head $url 60s NORMAL", "get $url 60s NORMAL GET")

            val outcome = run("--for", "2s", "--speed", "300")

            assertTrue(" s  head down (HTTP 405)\n" in outcome.out, outcome.out)
            val table = outcome.summary()
            assertEquals(1, table["up at the end"])
            assertEquals(1, table["changes found"])
            assertEquals(0, table["retries"], "it would not help")
            assertEquals(0, outcome.exitCode)
        } finally {
            http.stop(0)
        }
    }

    @Test
    fun line_wrong_isReported_andTheOthersAreWatched_leavesNoThread() {
        val before = Thread.getAllStackTraces().keys
        write("fast-01 http://fast.demo/01 60s HIGH", "fast-02 http://fast.demo/02 soon HIGH")

        val outcome = run("--for", "1s", "--concurrency", "1")

        assertTrue(outcome.err.startsWith("$file, line 2: an interval is like 60s"), outcome.err)
        assertEquals(1, outcome.err.lines().count { it.isNotEmpty() })
        assertTrue("watching 1 endpoints" in outcome.out, outcome.out)
        assertEquals(1, outcome.summary()["peak at once"])
        assertEquals(0, outcome.exitCode)
        val left = (Thread.getAllStackTraces().keys - before).filter { !it.isDaemon }.onEach { it.join(120_000) }
        assertEquals(emptyList<Thread>(), left.filter { it.isAlive })
    }

    @Test
    fun file_missing_orWithoutARightLine_isReported_exits1() {
        val missing = run("--serve", "0")
        assertEquals("there is no file $file\n", missing.err)
        assertEquals("", missing.out)
        assertEquals(1, missing.exitCode)

        write("# none", "one")
        val wrong = run()
        assertTrue(wrong.err.endsWith("$file has no endpoint\n"), wrong.err)
        assertEquals(1, wrong.exitCode)
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(args: List<String>, message: String) {
        assertEquals(message, sample.refusal(*args.toTypedArray()))
    }

    @Test
    fun help_namesEveryOption_exits0() =
        sample.assertHelpNames(
            listOf("--for", "--speed", "--endpoints", "--state", "--store", "--concurrency", "--serve", "--metrics"),
            "--for",
            "0",
        )

    /** A JVM whose parents ignore Ctrl-C, as in a background job, ignores it too, but not a termination. */
    private fun interrupt(child: Process) {
        val ignored =
            Path.of("/proc/${child.pid()}/status")
                .takeIf(Files::exists)
                ?.let(Files::readAllLines)
                ?.first { it.startsWith("SigIgn:") }
                ?.substringAfter(':')
                ?.trim()
                ?.toLong(16) ?: 0
        val signal = if (ignored and 2 == 0L) "INT" else "TERM"
        ProcessBuilder("kill", "-$signal", "${child.pid()}").start().waitFor()
    }

    companion object {
        private const val TIME = "must be a time like 30s, 5m or 1h"

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            listOf(
                    listOf("--for", "0s") to "--for $TIME, not '0s'",
                    listOf("--for", "20") to "--for $TIME, not '20'",
                    listOf("--for") to "--for needs a value, see --help",
                    listOf("--speed", "0") to "--speed must be a whole number from 1 to 1000, not '0'",
                    listOf("--concurrency", "0") to "--concurrency must be a whole number from 1 to 10000, not '0'",
                    listOf("--endpoints") to "--endpoints needs a value, see --help",
                    listOf("--state", "") to "--state needs a value, see --help",
                    listOf("--serve", "65536") to "--serve must be a whole number from 0 to 65535, not '65536'",
                    listOf("--fast") to "unknown option '--fast', see --help",
                )
                .map { (args, message) -> arguments(args, message) }
    }
}
