package samples.support.uptime

import baton.Priority
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
