package samples.support.uptime

import java.io.BufferedReader
import java.io.ByteArrayOutputStream
import java.io.IOException
import java.net.InetSocketAddress
import java.net.Socket
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers.ofInputStream
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executors
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD
import samples.support.LoopbackServer

@Timeout(300, threadMode = SEPARATE_THREAD)
class EventStreamTest {
    private val stream = EventStream()
    private val threads = Executors.newCachedThreadPool()

    @AfterEach
    fun end() {
        stream.close()
        threads.shutdownNow()
    }

    @Test
    fun reader_getsTheFirstEvent_andThenThoseThatArePublished() {
        stream.publish("tick", "0")
        val out = ByteArrayOutputStream()
        val written = threads.submit<Boolean> { stream.write(out, "all", "1"::toString) }
        awaitReaders(1)
        stream.publish("tick", "2")
        while ("data: 2" !in out.toString()) Thread.onSpinWait()
        stream.close()

        assertTrue(written.get())
        assertEquals("event: all\ndata: 1\n\nevent: tick\ndata: 2\n\n", out.toString())
    }

    @Test
    fun readers_tooMany_areRefused_alsoAfterTheEnd() {
        repeat(EventStream.MAX_READERS) {
            threads.submit { stream.write(ByteArrayOutputStream(), "all", "1"::toString) }
        }
        awaitReaders(EventStream.MAX_READERS)
        assertFalse(stream.write(ByteArrayOutputStream(), "all", "1"::toString))
        stream.close()
        awaitReaders(0)
        assertFalse(stream.write(ByteArrayOutputStream(), "all", "1"::toString))
    }

    @Test
    fun reader_thatDoesNotRead_isDropped_andTheOthersGoOn() {
        val ends = LinkedBlockingQueue<String>()
        val http = LoopbackServer.create(0)
        http.executor = threads
        http.createContext("/") { exchange ->
            try {
                exchange.use {
                    it.sendResponseHeaders(200, 0)
                    stream.write(it.responseBody, "all", "\"first\""::toString)
                }
            } catch (dropped: IOException) {
                ends += "dropped, interrupted = ${Thread.currentThread().isInterrupted}"
            }
        }
        http.start()
        try {
            neverReading(http.address).use {
                awaitReaders(1)
                val address = URI("http://127.0.0.1:${http.address.port}/")
                val answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(address).build(), ofInputStream())
                val lines = answer.body().bufferedReader()
                lines.awaitEvent("\"first\"")
                // Far more than the sockets buffer; the second reader reads each before the next.
                val large = "x".repeat(64 shl 10)
                var number = 0
                while (stream.readers() > 1) {
                    stream.publish("tick", "${++number} $large")
                    lines.awaitEvent("$number $large")
                }
                assertEquals("dropped, interrupted = false", ends.poll(120, TimeUnit.SECONDS))
                stream.publish("tick", "the end")
                lines.awaitEvent("the end")
                assertEquals(1, stream.readers())
            }
        } finally {
            http.stop(0)
        }
    }

    /** A connection that has sent a request, and reads no answer. */
    private fun neverReading(address: InetSocketAddress) =
        Socket().apply {
            receiveBufferSize = 4096
            connect(address)
            getOutputStream().write("GET / HTTP/1.1\r\nHost: test\r\n\r\n".toByteArray())
        }

    private fun BufferedReader.awaitEvent(data: String) {
        val read = CompletableFuture.supplyAsync({ while (readLine() != "data: $data") {} }, threads)
        read.get(120, TimeUnit.SECONDS)
    }

    private fun awaitReaders(count: Int) {
        while (stream.readers() != count) Thread.onSpinWait()
    }
}
