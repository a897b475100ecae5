package samples.support

import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.net.Socket
import java.time.Duration
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

@Timeout(300, threadMode = SEPARATE_THREAD)
class SearchServerTest {
    private val server = SearchServer("ab")
    private val written = ByteArrayOutputStream()

    @AfterEach fun close() = server.close()

    @Test
    fun request_keptByItsClient_isReportedAsStillOpen() {
        request("a").use {
            server.seen("a").join()

            assertFalse(report(answerTo("ab"), Duration.ZERO))
            assertTrue("  a: still open" in written.toString(), written.toString())
        }
    }

    @Test
    fun request_droppedByItsClient_isReportedAsAborted() {
        request("a").use { server.seen("a").join() }

        assertTrue(report(answerTo("ab"), SearchServer.PATIENCE))
        assertTrue("  a: aborted" in written.toString(), written.toString())
    }

    @Test
    fun earlyQuery_answered_isNotAsExpected() {
        val answer = answerTo("ab")
        request("a").use { server.seen("a").join() }
        request("abc").use { server.seen("abc").join() }

        assertFalse(report(answer, SearchServer.PATIENCE, word = "abc"))
        assertTrue("  ab: answered" in written.toString(), written.toString())
    }

    @Test
    fun otherResult_isNotAsExpected() {
        request("a").use { server.seen("a").join() }
        answerTo("ab")

        assertFalse(report("something else", SearchServer.PATIENCE))
    }

    private fun report(shown: String, patience: Duration, word: String = "ab") =
        server.report(PrintStream(written), word, shown, patience)

    private fun request(query: String): Socket {
        val uri = server.request(query).uri()
        val socket = Socket(uri.host, uri.port)
        socket.getOutputStream().write("GET ${uri.path}?${uri.query} HTTP/1.1\r\nHost: here\r\n\r\n".toByteArray())
        return socket
    }

    private fun answerTo(query: String) =
        request(query).use { it.getInputStream().reader().readText().substringAfter("\r\n\r\n") }
}
