package samples.support.uptime

import baton.Priority
import java.io.RandomAccessFile
import java.net.URI
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.Arguments
import org.junit.jupiter.params.provider.Arguments.arguments
import org.junit.jupiter.params.provider.MethodSource

class EndpointsFileTest {
    @TempDir lateinit var directory: Path

    private val path by lazy { directory.resolve("mine.txt") }
    private val faults = mutableListOf<String>()

    @Test
    fun lines_right_areEndpoints_withoutCommentsAndBlankLines() {
        val text =
            "# two\r\n\r\nlogin https://login.example/health#top 60s HIGH\r\n" +
                "  pay\thttp://127.0.0.1:8080/  1h IDLE GET # no HEAD\n"

        val endpoints = read(text)

        assertEquals(
            listOf(
                Endpoint(
                    "login",
                    URI("https://login.example/health#top"),
                    Duration.ofSeconds(60),
                    Priority.HIGH,
                    false,
                ),
                Endpoint("pay", URI("http://127.0.0.1:8080/"), Duration.ofHours(1), Priority.IDLE, true),
            ),
            endpoints,
        )
        assertEquals(emptyList<String>(), faults)
    }

    @ParameterizedTest
    @MethodSource("wrongLines")
    fun line_wrong_isReportedWithItsNumber_leftOut(line: String, message: String) {
        val endpoints = read("a http://a.example/ 60s NORMAL\n$line\nb http://b.example/ 5m LOW\n")

        assertEquals(listOf("a", "b"), endpoints.map { it.name() })
        assertEquals(listOf("$path, line 2: $message: '$line' is left out"), faults)
    }

    @Test
    fun lines_allWrong_areReported() {
        assertEquals(emptyList<Endpoint>(), read("a http://a.example/ often LOW"))
        assertEquals(2, faults.size)
        assertEquals("$path has no endpoint", faults.last())
    }

    @Test
    fun file_missingEmptyOrADirectory_isReported() {
        EndpointsFile(path).read(faults::add)
        read("# nothing\n")
        EndpointsFile(directory).read(faults::add)

        assertEquals(
            listOf(
                "there is no file $path",
                "$path has no endpoint",
                "$directory is a directory, not a file of endpoints",
            ),
            faults,
        )
    }

    @Test
    fun file_hugeEndlessOrBinary_isRefused_withoutBeingReadToItsEnd() {
        RandomAccessFile(path.toFile(), "rw").use { it.setLength(600L shl 20) }
        EndpointsFile(path).read(faults::add)
        EndpointsFile(Path.of("/dev/zero")).read(faults::add)
        val pipe = directory.resolve("pipe")
        assertEquals(0, ProcessBuilder("mkfifo", "$pipe").start().waitFor())
        EndpointsFile(pipe).read(faults::add)
        Files.write(path, "a http://a.example/ 60s NORMAL\nb ".toByteArray() + byteArrayOf(-1, -2, 0))
        EndpointsFile(path).read(faults::add)
        read("\n".repeat(1_000_000))

        assertEquals(
            listOf(
                "$path is too large: a file of endpoints has at most 4,194,304 bytes",
                "/dev/zero is not a regular file",
                "$pipe is not a regular file",
                "$path, line 2: this is not a text in UTF-8",
                "$path, line 100001: a file of endpoints has at most 100,000 lines",
            ),
            faults,
        )
    }

    @Test
    fun lines_aMillionWrong_reportsTheFirstTwenty_andCountsTheRest() {
        val endpoints = read("a http://a.example/ 60s NORMAL\n" + "b\n".repeat(99_999))

        assertEquals(listOf("a"), endpoints.map { it.name() })
        assertEquals(21, faults.size)
        assertEquals("$path, line 21: $FORM: 'b' is left out", faults[19])
        assertEquals("$path: 99979 more lines are wrong", faults.last())
    }

    @Test
    fun endpoints_tooMany_areLeftOut() {
        val endpoints = read(List(10_001) { "e$it http://e/ 1h LOW" }.joinToString("\n"))

        assertEquals(10_000, endpoints.size)
        val rest = "there are 10,000 endpoints before it: 'e10000 http://e/ 1h LOW' is left out"
        assertEquals(listOf("$path, line 10001: $rest"), faults)
    }

    @Test
    fun edit_withOneWrongLine_isNotTakenOver() {
        Files.writeString(path, "a http://a.example/ 60s NORMAL\nb http://b.example:99999/ 60s NORMAL\n")

        assertEquals(emptyList<Endpoint>(), EndpointsFile(path).readEdited(faults::add))

        val line = "'b http://b.example:99999/ 60s NORMAL'"
        val rest = "was edited, but because of what is wrong the endpoints stay as they were"
        assertEquals(listOf("$path, line 2: a port is from 1 to 65535, not 99999: $line", "$path $rest"), faults)
    }

    @Test
    fun line_withControlCharacters_isRefused_andQuotedWithoutThem() {
        for (odd in listOf("\u001b[2J", "\u009b2J", "\u0007", "\u202e", "\u2028", "\u0000")) {
            faults.clear()
            assertEquals(emptyList<Endpoint>(), read("a$odd http://a.example/ 60s NORMAL"))
            val quoted = "a${odd.replaceRange(0, 1, "?")} http://a.example/ 60s NORMAL"
            val fault = "a line has no control characters: '$quoted' is left out"
            assertEquals("$path, line 1: $fault", faults.first())
        }
    }

    @Test
    fun byteOrderMark_isNoPartOfTheFirstName() {
        assertEquals(listOf("a"), read("\uFEFFa http://a.example/ 60s NORMAL").map { it.name() })
    }

    @Test
    fun isEdited_onceUntilItIsReadAgain() {
        Files.writeString(path, "a http://a.example/ 60s NORMAL\n")
        val file = EndpointsFile(path)
        file.read(faults::add)
        assertFalse(file.isEdited)

        Files.writeString(path, "b http://b.example/sub 60s NORMAL\n")
        assertTrue(file.isEdited)
        assertEquals(listOf("b"), file.read(faults::add).map { it.name() })
        assertFalse(file.isEdited)

        val other = Files.writeString(directory.resolve("other"), "c http://c.example/sub 60s NORMAL\n")
        Files.move(other, path, REPLACE_EXISTING)
        assertTrue(file.isEdited)
        file.read(faults::add)

        Files.delete(path)
        assertTrue(file.isEdited)
        file.read(faults::add)
        assertFalse(file.isEdited)
        assertEquals(listOf("there is no file $path"), faults)
    }

    @Test
    fun shipped_has500EndpointsOfTheDemoServer_ofAllKindsAndLevels() {
        val file = EndpointsFile(null)

        val endpoints = file.read(faults::add)

        assertEquals(emptyList<String>(), faults)
        assertEquals(500, endpoints.size)
        assertEquals(DemoServer.Kind.entries.toSet(), endpoints.map { DemoServer.kind(it.url()) }.toSet())
        assertEquals(Priority.entries.toSet(), endpoints.map { it.priority() }.toSet())
        assertTrue(endpoints.any { it.isGet })
        assertFalse(file.isEdited)
    }

    private fun read(text: String): List<Endpoint> = EndpointsFile(Files.writeString(path, text)).read(faults::add)

    companion object {
        private const val FORM = "an endpoint is 'name url interval priority', and 'GET' if need be"
        private const val URL = "a URL begins with http:// or https:// and a host, not "
        private const val INTERVAL = "an interval is like 60s, 5m or 1h, not "
        private const val PRIORITY = "a priority is one of CRITICAL, HIGH, NORMAL, LOW, IDLE, not "

        @JvmStatic
        fun wrongLines(): List<Arguments> =
            listOf(
                    "c http://c.example/ 60s" to FORM,
                    "c http://c.example/ 60s LOW GET now" to FORM,
                    "c http://c.example/ 60s LOW POST" to "after the priority comes GET or nothing, not 'POST'",
                    "c ftp://c.example/ 60s LOW" to "$URL'ftp://c.example/'",
                    "c http:///c 60s LOW" to "$URL'http:///c'",
                    "c javascript:alert(1) 60s LOW" to "$URL'javascript:alert(1)'",
                    "c file:///etc/passwd 60s LOW" to "$URL'file:///etc/passwd'",
                    "c http://c.example:99999/ 60s LOW" to "a port is from 1 to 65535, not 99999",
                    "c http://c.example:0/ 60s LOW" to "a port is from 1 to 65535, not 0",
                    "c http://c.example:123456789012/ 60s LOW" to "$URL'http://c.example:123456789012/'",
                    "c http://c.example/% 60s LOW" to "$URL'http://c.example/%'",
                    "c http://c.example/ 60 LOW" to "$INTERVAL'60'",
                    "c http://c.example/ 0s LOW" to "$INTERVAL'0s'",
                    "c http://c.example/ -1s LOW" to "$INTERVAL'-1s'",
                    "c http://c.example/ 60s low" to "$PRIORITY'low'",
                    "a http://c.example/ 60s LOW" to "line 1 has the same name",
                )
                .map { (line, message) -> arguments(line, message) }
    }
}
