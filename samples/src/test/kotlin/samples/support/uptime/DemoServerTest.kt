package samples.support.uptime

import baton.Priority
import java.io.IOException
import java.net.ConnectException
import java.net.Socket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.HttpTimeoutException
import java.time.Duration
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

@Timeout(300, threadMode = SEPARATE_THREAD)
class DemoServerTest {
    private val started = System.nanoTime()
    private val server = DemoServer.start(Duration.ofSeconds(1))
    private val client = HttpClient.newHttpClient()

    @AfterEach fun close() = server.close()

    @Test
    fun host_ofADomainOfOthers_isLeftAsItIs() {
        for (url in listOf("http://fast.example/a", "http://other.demo/a", "http://demo/a").map(::URI)) {
            assertEquals(url, server.address(url))
            assertEquals(emptyList<Long>(), changes(url))
        }
    }

    @Test
    fun hosts_haveAPortEach() {
        val first = server.address(URI("http://fast-1.demo/a"))

        assertEquals(first.port, server.address(URI("http://fast-1.demo/b")).port)
        assertNotEquals(first.port, server.address(URI("http://fast-2.demo/a")).port)
        assertEquals("/a", first.path)
    }

    @Test
    fun fast_andSlow_answer() {
        assertEquals(200, ask("http://fast-1.demo/01"))
        assertEquals(200, ask("http://slow-1.demo/01"))
        assertEquals(emptyList<Long>(), changes(URI("http://slow-1.demo/01")))
    }

    @Test
    fun dead_refuses_andIsDownFromTheBeginning() {
        assertThrows(ConnectException::class.java) { ask("http://dead.demo/01") }
        assertEquals(listOf(started), changes(URI("http://dead.demo/01")))
    }

    @Test
    fun hanging_neverAnswers_andIsDownFromTheBeginning() {
        assertThrows(HttpTimeoutException::class.java) { ask("http://hanging.demo/01", Duration.ofMillis(200)) }
        assertEquals(listOf(started), changes(URI("http://hanging.demo/01")))
    }

    @Test
    fun hanging_closesTheConnectionOfAClientThatHasGone() {
        val address = server.address(URI("http://hanging.demo/01"))
        val clients =
            List(100) {
                Socket(address.host, address.port).apply {
                    soTimeout = 120_000
                    getOutputStream().write("HEAD /01 HTTP/1.1\r\nHost: hanging.demo\r\n\r\n".toByteArray())
                }
            }
        // Half a close is all that the server sees of one.
        for (client in clients) client.shutdownOutput()
        for (client in clients) client.use { assertEquals(-1, it.getInputStream().read()) }
        assertThrows(HttpTimeoutException::class.java) { ask("http://hanging.demo/01", Duration.ofMillis(200)) }
    }

    @Test
    fun flaky_failsOnceOrTwiceInARow_butNotWithItsFirstRequest() {
        for (path in 1..4) {
            val answers = List(60) { if (ask("http://flaky-1.demo/0$path") == 200) '.' else 'x' }.joinToString("")
            assertTrue(answers.startsWith("."), answers)
            assertEquals(setOf(2 - path % 2), Regex("x+").findAll(answers).map { it.value.length }.toSet(), answers)
        }
        assertEquals(emptyList<Long>(), changes(URI("http://flaky-1.demo/01")))
    }

    @Test
    fun outage_begins_ends_isRecorded_asEachClientSeesIt() {
        val url = URI("http://outage.demo/01")
        while (ask(url.toString()) != 503) assertTrue(changes(url).size < 2)
        while (ask(url.toString()) != 200) assertFalse(changes(url).isEmpty())

        val (down, up) = changes(url)
        assertTrue(down in started..up)
        val middle = (down + up) / 2
        assertEquals(listOf(down), changes(url, until = middle))
        assertEquals(listOf(middle, up), changes(url, since = middle))
        assertEquals(emptyList<Long>(), changes(url, since = System.nanoTime()))
        assertEquals(emptyList<Long>(), changes(url, until = started))
    }

    @Test
    fun comparison_sameChanges_areTheSame() {
        val dead = watch("dead", "http://dead.demo/1", changes = 1)
        val fast = watch("fast", "http://fast.demo/1", changes = 0)
        val other = watch("other", "http://other.example/1", changes = 1)

        val comparison = compare(dead, fast, other)

        assertEquals(emptyList<String>(), comparison.differences())
        assertEquals(2, comparison.found())
        assertEquals("1 of them at the demo server; the demo server made 1: the same", comparison.note())
    }

    @Test
    fun comparison_changeMissed_orInvented_isNamed() {
        val missed = watch("missed", "http://dead.demo/1", changes = 0)
        val invented = watch("invented", "http://fast.demo/1", changes = 1)

        val comparison = compare(missed, invented)

        assertEquals(
            listOf("missed: 1 changes were made, 0 found", "invented: 0 changes were made, 1 found"),
            comparison.differences(),
        )
        assertEquals("the demo server made 1: NOT the same", comparison.note())
    }

    @Test
    fun comparison_changeTooLateToBeFound_mayBeMissed() {
        val late = watch("late", "http://dead.demo/1", changes = 0, seconds = 6)
        val hanging = watch("hanging", "http://hanging.demo/1", changes = 0, seconds = 11)

        val comparison = compare(late, hanging, lag = Duration.ofSeconds(2))

        assertEquals(emptyList<String>(), comparison.differences())
        assertEquals("the demo server made 0: the same", comparison.note())
    }

    @Test
    fun comparison_noEndpointOfTheServer_saysNothing() {
        assertEquals("", compare(watch("other", "http://other.example/", changes = 1)).note())
    }

    private fun compare(vararg watches: Watch, lag: Duration = Duration.ZERO): DemoComparison {
        val options = monitorOptions()
        return DemoComparison(options, server, watches.toList(), lag)
    }

    private fun watch(name: String, url: String, changes: Int, seconds: Long = 60) =
        Watch(endpoint(name, url), System.nanoTime() - Duration.ofSeconds(seconds).toNanos()).also { watch ->
            repeat(2 * changes) { watch.history.add(false) }
        }

    private fun endpoint(name: String, url: String) =
        Endpoint(name, URI(url), Duration.ofSeconds(60), Priority.NORMAL, false)

    private fun changes(url: URI, since: Long = started, until: Long = System.nanoTime()) =
        server.changes(url, since, until)

    @Throws(IOException::class)
    private fun ask(url: String, patience: Duration = Duration.ofSeconds(120)): Int {
        val request = HttpRequest.newBuilder(server.address(URI(url))).timeout(patience).build()
        return client.send(request, BodyHandlers.discarding()).statusCode()
    }
}
