package baton.micrometer

import baton.monitoring.Monitor
import baton.sync.Semaphore
import com.sun.net.httpserver.HttpServer
import io.micrometer.prometheusmetrics.PrometheusConfig
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse.BodyHandlers
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The meters as Prometheus reads them, by HTTP. */
class PrometheusTest {
    @Test
    fun page_ofTheRegistry_showsTheMetersOfASemaphore() = runTest {
        val registry = PrometheusMeterRegistry(PrometheusConfig.DEFAULT)
        val semaphore = Semaphore(permits = 10, acquired = 7, name = "uplink")
        val monitor = Monitor(backgroundScope, every = 500.milliseconds)
        monitor.watch(semaphore)
        BatonMetrics(monitor).bindTo(registry)
        advanceTimeBy(501.milliseconds)
        val lines = get(registry).lines().filter { it.startsWith("baton_") }
        val tags = """{name="uplink",type="Semaphore"}"""
        assertEquals(
            listOf(
                "baton_capacity$tags 10.0",
                "baton_in_use$tags 7.0",
                "baton_wait_longest_seconds$tags 0.0",
                "baton_waiting_max$tags 0.0",
                "baton_waiting$tags 0.0",
            ),
            lines.sorted(),
        )
        assertEquals(7, semaphore.permits - semaphore.availablePermits)
    }

    private fun get(registry: PrometheusMeterRegistry): String {
        val server = HttpServer.create(InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0)
        server.createContext("/metrics") { exchange ->
            val text = registry.scrape().toByteArray()
            exchange.sendResponseHeaders(200, text.size.toLong())
            exchange.responseBody.use { it.write(text) }
        }
        server.start()
        try {
            val page = URI("http://${server.address.address.hostAddress}:${server.address.port}/metrics")
            val client = HttpClient.newHttpClient()
            return client.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString()).body()
        } finally {
            server.stop(0)
        }
    }
}
