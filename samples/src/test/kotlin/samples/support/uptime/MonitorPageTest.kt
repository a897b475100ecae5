package samples.support.uptime

import baton.interop.AsyncSchedule
import baton.interop.Triggers
import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.net.Socket
import java.net.SocketException
import java.net.SocketTimeoutException
import java.net.URI
import java.net.URLEncoder
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpRequest.BodyPublishers
import java.net.http.HttpResponse
import java.net.http.HttpResponse.BodyHandlers
import java.nio.ByteBuffer
import java.nio.channels.ClosedByInterruptException
import java.nio.channels.Pipe
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

@Timeout(300, threadMode = SEPARATE_THREAD)
class MonitorPageTest {
    private val written = ByteArrayOutputStream()
    private val report = MonitorReport(monitorOptions(), PrintStream(written, true), System.err, false)
    private val checked = LinkedBlockingQueue<String>()
    private val schedule =
        AsyncSchedule.builder<String> { due ->
                checked += due.key
                CompletableFuture.completedFuture<Any?>(null)
            }
            .grace(Duration.ZERO)
            .start()
    private val page = MonitorPage.open(0, report)
    private val odd = "<b>ü&\"+%/?.."

    init {
        report.edit(listOf(endpointOf("one"), endpointOf(odd)))
        for (name in listOf("one", odd)) schedule.put(name, Triggers.every(Duration.ofHours(9)))
        page.serve(schedule) { "baton_in_use 1.0\n" }
    }

    private val address = Regex("the page is at (http://127.0.0.1:(\\d+))/").find(written.toString())!!
    private val root = address.groupValues[1]
    private val client = HttpClient.newHttpClient()

    @AfterEach
    fun end() {
        page.close()
        schedule.close()
    }

    @Test
    fun page_isOneFile_whosePolicyForbidsOtherScripts() {
        val answer = send("GET", "/")

        assertEquals(200, answer.statusCode())
        assertEquals("text/html; charset=utf-8", answer.header("Content-Type"))
        assertTrue(answer.body().startsWith("<!doctype html>"))
        assertTrue(answer.body().trim().endsWith("</html>"))
        val policy = answer.header("Content-Security-Policy")!!
        assertTrue(Regex("default-src 'none'.* script-src 'sha256-[^']{44}'").containsMatchIn(policy), policy)
        assertEquals("no-store", answer.header("Cache-Control"))
        assertEquals("nosniff", answer.header("X-Content-Type-Options"))
    }

    @Test
    fun metrics_areTextForPrometheus() {
        val answer = send("GET", "/metrics")
        assertEquals("baton_in_use 1.0\n", answer.body())
        assertEquals("text/plain; version=0.0.4; charset=utf-8", answer.header("Content-Type"))
    }

    @Test
    fun status_namesEveryEndpoint() {
        val status = jsonOf(send("GET", "/status").body())

        assertEquals(listOf(odd, "one"), status.objects("endpoints").map { it["name"] })
        assertTrue("numbers" in status && "history" in status)
    }

    @Test
    fun events_beginWithEverything_thenTellEachChange_alsoToLaterReaders() {
        val early = events()
        val (name, data) = early.next()
        assertEquals("all", name)
        val points = data.points("history").toMutableList()
        assertEquals(204, send("POST", "/pause?name=${encoded(odd)}").statusCode())
        var isPaused = false
        while (!isPaused || points.size < 3) {
            val (event, tick) = early.next()
            assertEquals("tick", event)
            tick["point"]?.let(points::add)
            isPaused = isPaused || tick.objects("changed").any { it["name"] == odd && it["paused"] == true }
        }
        val (_, late) = events().next()

        assertEquals(points, late.points("history").take(points.size), "the same minutes")
        val paused = late.objects("endpoints").associate { it["name"] to it["paused"] }
        assertEquals(mapOf(odd to true, "one" to false), paused)
    }

    @Test
    fun pauseAndResume_actOnTheSchedule_checkRunsNow() {
        assertTrue(schedule.nextDue("one").isPresent)
        assertEquals(204, send("POST", "/pause?name=one").statusCode())
        assertTrue(schedule.nextDue("one").isEmpty)
        assertEquals(204, send("POST", "/resume?name=one").statusCode())
        assertTrue(schedule.nextDue("one").isPresent)
        assertEquals(204, send("POST", "/check?name=${encoded(odd)}").statusCode())
        while (checked.poll(120, TimeUnit.SECONDS) != odd) {}
    }

    @Test
    fun request_fromAnotherSite_isRefused_andDoesNothing() {
        val foreign = send("POST", "/pause?name=one", "Origin" to "http://evil.example")
        assertEquals(403, foreign.statusCode())
        assertEquals("the Origin is 'http://evil.example', not this server\n", foreign.body())
        for (path in listOf("/", "/status", "/events")) {
            assertEquals(403, send("GET", path, "Origin" to "null").statusCode())
        }
        assertTrue(raw("POST /pause?name=one HTTP/1.1\r\nHost: evil.example:${port()}").startsWith("HTTP/1.1 403 "))
        assertTrue(raw("GET /status HTTP/1.1\r\nHost: evil.example").startsWith("HTTP/1.1 403 "))
        assertTrue(raw("GET /status HTTP/1.0").startsWith("HTTP/1.1 403 "))
        assertTrue(schedule.nextDue("one").isPresent, "not paused")
        assertEquals(204, send("POST", "/pause?name=one", "Origin" to root).statusCode())
    }

    @Test
    fun method_wrong_isRefused_andTheRightOneNamed() {
        for (path in listOf("/", "/status", "/events")) for (method in listOf("POST", "HEAD", "DELETE")) {
            val answer = send(method, path)
            assertEquals(405 to "GET", answer.statusCode() to answer.header("Allow"))
        }
        for (path in listOf("/pause", "/resume", "/check")) {
            val answer = send("GET", "$path?name=one")
            assertEquals(405 to "POST", answer.statusCode() to answer.header("Allow"))
        }
        assertTrue(schedule.nextDue("one").isPresent, "not paused")
    }

    @Test
    fun name_ofNoEndpointOrMissing_isRefused_asIsAnotherPath() {
        val unknown = send("POST", "/check?name=${encoded("<i>")}")
        assertEquals(404, unknown.statusCode())
        assertEquals("there is no endpoint '<i>'\n", unknown.body())
        assertEquals("text/plain; charset=utf-8", unknown.header("Content-Type"))
        for (query in listOf("", "?name", "?other=one")) assertEquals(400, send("POST", "/check$query").statusCode())
        for (path in listOf("/favicon.ico", "/status/", "/uptime.html")) {
            assertEquals(404, send("GET", path).statusCode(), path)
        }
    }

    @Test
    fun action_afterTheEndOfTheSchedule_isRefused() {
        schedule.close()

        val answer = send("POST", "/check?name=one")

        assertEquals(503, answer.statusCode())
        assertEquals("the monitor has ended\n", answer.body())
    }

    @Test
    fun clients_thatDoNotGoOn_haveFewThreads_andNotForLong() {
        val halves =
            listOf("GET /status HTTP/1.1\r\nHost: ", "POST /check?name=one HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\n") +
                "POST /check?name=one HTTP/1.1\r\nHost: 127.0.0.1:${port()}\r\nContent-Length: 60000\r\n\r\nx"
        val slow =
            List(300) {
                Socket("127.0.0.1", port().toInt()).apply {
                    soTimeout = 120_000
                    getOutputStream().write(halves[it % halves.size].toByteArray())
                }
            }
        // Behind the others: when it is answered, their threads are free again.
        assertEquals(200, send("GET", "/status").statusCode())
        val threads = Thread.getAllStackTraces().keys.count { it.name == "page" }
        assertTrue(threads <= MonitorPage.THREADS + 1, "$threads threads")
        for (client in slow) client.use { assertTrue(isClosed(it)) }
    }

    /** Perhaps after an answer. */
    private fun isClosed(client: Socket): Boolean =
        try {
            while (client.getInputStream().read() >= 0) {}
            true
        } catch (late: SocketTimeoutException) {
            false
        } catch (reset: SocketException) {
            true
        }

    @Test
    fun deadline_interruptsAThreadThatWaits_butNotAfterItsClose() {
        val timer = Executors.newSingleThreadScheduledExecutor()
        val pipe = Pipe.open()
        Deadline(timer, Duration.ofMillis(1)).use {
            assertThrows(ClosedByInterruptException::class.java) { pipe.source().read(ByteBuffer.allocate(1)) }
        }
        repeat(1_000) { Deadline(timer, Duration.ZERO).close() }
        timer.shutdown()
        assertTrue(timer.awaitTermination(120, TimeUnit.SECONDS))
        assertFalse(Thread.interrupted())
    }

    @Test
    fun close_endsTheStreams() {
        val events = events()
        events.next()
        page.close()
        while (events.nextOrNull() != null) {}
    }

    private fun port() = address.groupValues[2]

    private fun encoded(name: String) = URLEncoder.encode(name, Charsets.UTF_8)

    private fun send(method: String, path: String, vararg headers: Pair<String, String>): HttpResponse<String> {
        val request = HttpRequest.newBuilder(URI(root + path)).method(method, BodyPublishers.noBody())
        for ((name, value) in headers) request.header(name, value)
        return client.send(request.build(), BodyHandlers.ofString())
    }

    private fun HttpResponse<*>.header(name: String): String? = headers().firstValue(name).orElse(null)

    /** The answer to a request that no HTTP client would send. */
    private fun raw(head: String): String =
        Socket("127.0.0.1", port().toInt()).use {
            it.getOutputStream().write("$head\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".toByteArray())
            it.getInputStream().readAllBytes().decodeToString()
        }

    private fun Map<String, Any?>.points(name: String) = (getValue(name) as List<*>).toList()

    private fun events() =
        client
            .send(HttpRequest.newBuilder(URI("$root/events")).build(), BodyHandlers.ofInputStream())
            .also { assertEquals("text/event-stream", it.header("Content-Type")) }
            .body()
            .bufferedReader()
            .let(::ServerEvents)
}
