package samples

import java.nio.file.Files
import java.nio.file.Path
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeFalse
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.EnumSource
import org.junit.jupiter.params.provider.MethodSource

@Timeout(300, threadMode = SEPARATE_THREAD)
class RateLimitedClientTest {
    @TempDir lateinit var directory: Path

    @ParameterizedTest
    @EnumSource
    fun defaultRun_fetchesAllWithTheSemaphoreOnly_endsByItself(twin: Twin) {
        val outcome = defaultRuns.getValue(twin).outcome()

        assertEquals("", outcome.err)
        assertEquals(0, outcome.exitCode)
        assertFalse('\r' in outcome.out, "no progress line in a log")
        val (limited, unlimited) = outcome.tables()
        assertEquals(1000, limited["items"])
        assertEquals(1000, limited["200 OK"])
        assertEquals(0, limited["429 Too Many Requests"])
        assertEquals(0, limited["other failures"])
        assertEquals(5, limited["peak in flight"])
        assertTrue(unlimited.getValue("429 Too Many Requests") > 0, outcome.out)
        assertTrue(unlimited.getValue("peak in flight") > 5, outcome.out)
        val answers = listOf("200 OK", "429 Too Many Requests", "other failures")
        assertEquals(1000, answers.sumOf { unlimited.getValue(it) })
    }

    @ParameterizedTest
    @EnumSource
    fun limit_aboveTheServers_isRefusedAndReported(twin: Twin) {
        val outcome = twin.rateLimitedClient.runHere("--items", items(60), "--limit", "8")

        val table = outcome.tables().single()
        val refused = table.getValue("429 Too Many Requests")
        assertTrue(table["peak in flight"] in 6..8, outcome.out)
        assertTrue(refused > 0)
        assertEquals(60 - refused, table["200 OK"])
        assertEquals("incomplete: fetched ${60 - refused} of 60 items, $refused refused with 429\n", outcome.err)
        assertEquals(1, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun limit_ofOne_serverOfOne_fetchesAll(twin: Twin) {
        val outcome = twin.rateLimitedClient.runHere("--items", items(20), "--limit", "1", "--server-limit", "1")

        assertEquals("", outcome.err)
        assertEquals(1, outcome.tables().first()["peak in flight"])
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun server_diesHalfWay_stopsTheRun_accountsForEveryItem_leavesNoThread(twin: Twin) {
        val before = Thread.getAllStackTraces().keys

        val outcome = twin.rateLimitedClient.runHere("--items", items(100), "--fail-after", "40")

        val table = outcome.tables().single()
        val failed = table.getValue("other failures")
        assertEquals(40, table["200 OK"])
        assertTrue(failed in 1..5, outcome.out)
        assertEquals(60 - failed, table["not tried any more"])
        assertTrue(outcome.err.startsWith("incomplete: fetched 40 of 100 items, $failed failed: "), outcome.err)
        assertTrue(outcome.err.endsWith(", ${60 - failed} not tried any more\n"), outcome.err)
        assertTrue("Exception" in outcome.err, outcome.err)
        assertEquals(1, outcome.exitCode)
        assertNoThreadLeft(before)
    }

    @ParameterizedTest
    @EnumSource
    fun server_diesHalfWay_exits1(twin: Twin) {
        val outcome = twin.start("RateLimitedClient", "--items", items(30), "--fail-after", "10").outcome()

        assertTrue(outcome.err.startsWith("incomplete: fetched 10 of 30 items, "), outcome.err)
        assertEquals(1, outcome.err.lines().count { it.isNotEmpty() })
        assertEquals(1, outcome.exitCode)
    }

    @ParameterizedTest
    @MethodSource("wrongUsage")
    fun main_wrongUsage_printsOneLine_exits2(twin: Twin, args: List<String>, message: String) {
        assertEquals(message, twin.rateLimitedClient.refusal(*args.toTypedArray()))
    }

    @ParameterizedTest
    @MethodSource("wrongFiles")
    fun itemsFile_wrong_isReportedWithLineAndContent_exits2(twin: Twin, content: ByteArray, message: String) {
        val file = Files.write(directory.resolve("mine.txt"), content)

        val outcome = twin.rateLimitedClient.runHere("--items", file.toString())

        assertEquals(message.replace("FILE", file.toString()) + "\n", outcome.err)
        assertEquals("", outcome.out)
        assertEquals(2, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun itemsFile_missingOrADirectory_isReported_exits2(twin: Twin) {
        val missing = directory.resolve("missing.txt")

        assertEquals("there is no file $missing", twin.rateLimitedClient.refusal("--items", missing.toString()))
        assertEquals(
            "$directory is a directory, not a file of items",
            twin.rateLimitedClient.refusal("--items", directory.toString()),
        )
    }

    @ParameterizedTest
    @EnumSource
    fun itemsFile_notReadable_isReported_exits2(twin: Twin) {
        val locked = Files.createFile(directory.resolve("locked.txt"))
        locked.toFile().setReadable(false)
        assumeFalse(Files.isReadable(locked), "this user may read everything")

        assertEquals("may not read $locked", twin.rateLimitedClient.refusal("--items", locked.toString()))
    }

    @ParameterizedTest
    @EnumSource
    fun jvm_wrongUsage_exits2(twin: Twin) {
        val outcome = twin.start("RateLimitedClient", "--limit", "0").outcome()

        assertTrue(outcome.err.startsWith("--limit must be a whole number"), outcome.err)
        assertEquals(2, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun itemsFile_commentsAndBlankLines_areIgnored(twin: Twin) {
        val text = "# two items\r\n\r\n/one\r\n  # and\r\n \r\n/two?a=b%20c"
        val file = Files.writeString(directory.resolve("mine.txt"), text)

        val outcome = twin.rateLimitedClient.runHere("--items", file.toString())

        assertEquals("", outcome.err)
        assertEquals(2, outcome.tables().first()["200 OK"])
        assertEquals(0, outcome.exitCode)
    }

    @ParameterizedTest
    @EnumSource
    fun help_namesEveryOption_exits0(twin: Twin) =
        twin.rateLimitedClient.assertHelpNames(
            listOf("--items", "--limit", "--server-limit", "--fail-after"),
            "--limit",
            "0",
        )

    private fun items(count: Int): String =
        Files.write(directory.resolve("items-$count.txt"), (1..count).map { "/api/process/$it" }).toString()

    companion object {
        private const val RANGE = "must be a whole number from 1 to 2147483647"

        /** A thousand items take long, so both twins fetch them while the other tests run. */
        private val defaultRuns = mutableMapOf<Twin, Process>()

        @JvmStatic
        @BeforeAll
        fun startDefaultRuns() = Twin.entries.forEach { defaultRuns[it] = it.start("RateLimitedClient") }

        @JvmStatic @AfterAll fun endDefaultRuns() = defaultRuns.values.forEach { it.destroyForcibly() }

        @JvmStatic
        fun wrongUsage(): List<Arguments> =
            forBoth(
                listOf("--limit", "0") to "--limit $RANGE, not '0'",
                listOf("--limit", "-5") to "--limit $RANGE, not '-5'",
                listOf("--limit", "five") to "--limit $RANGE, not 'five'",
                listOf("--limit", "2.5") to "--limit $RANGE, not '2.5'",
                listOf("--limit", "99999999999") to "--limit $RANGE, not '99999999999'",
                listOf("--limit") to "--limit needs a value, see --help",
                listOf("--limit", "--items") to "--limit needs a value, see --help",
                listOf("--limit", "") to "--limit needs a value, see --help",
                listOf("--server-limit", "0") to "--server-limit $RANGE, not '0'",
                listOf("--fail-after", "-1") to "--fail-after $RANGE, not '-1'",
                listOf("--items", "--fast") to "--items needs a value, see --help",
                listOf("--items") to "--items needs a value, see --help",
                listOf("--items", "a\u0000b") to "--items: no file can have the name 'a?b'",
                listOf("--fast") to "unknown option '--fast', see --help",
                listOf("5") to "unknown option '5', see --help",
            )

        @JvmStatic
        fun wrongFiles(): List<Arguments> =
            forBoth(
                "".toByteArray() to "FILE has no items",
                "# nothing\n\n".toByteArray() to "FILE has no items",
                "/one\n\ntwo\n".toByteArray() to "FILE, line 3: an item must be a path that begins with '/': 'two'",
                " /one\n".toByteArray() to "FILE, line 1: an item must be a path that begins with '/': ' /one'",
                "/one two\n".toByteArray() to "FILE, line 1: an item must not contain spaces: '/one two'",
                "/one\t\n".toByteArray() to "FILE, line 1: an item must not contain spaces: '/one?'",
                "/%zz\n".toByteArray() to "FILE, line 1: no path of a URL (Malformed escape pair): '/%zz'",
                "x".repeat(99).toByteArray() to
                    "FILE, line 1: an item must be a path that begins with '/': '${"x".repeat(60)}...'",
                byteArrayOf(-1, -2, 47) to "FILE, line 1: this is not a text in UTF-8",
            )
    }
}
