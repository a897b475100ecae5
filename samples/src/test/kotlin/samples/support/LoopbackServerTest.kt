package samples.support

import java.net.URI
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.measureTime
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.Timeout.ThreadMode.SEPARATE_THREAD

@Timeout(300, threadMode = SEPARATE_THREAD)
class LoopbackServerTest {
    /** The kernel acknowledges the first packets of a connection at once, so only the later requests show a delay. */
    @Test
    fun response_doesNotWaitUntilTheClientHasAcknowledgedTheOneBefore() {
        val http = LoopbackServer.create(0)
        http.createContext("/") { exchange ->
            exchange.sendResponseHeaders(200, 2)
            exchange.responseBody.use { it.write("ok".toByteArray()) }
        }
        http.start()
        try {
            val url = URI("http://127.0.0.1:${http.address.port}/").toURL()
            val times = List(60) { measureTime { url.readText() } }.takeLast(21).sorted()

            assertTrue(times[10] < 30.milliseconds, "$times")
        } finally {
            http.stop(0)
        }
    }
}
