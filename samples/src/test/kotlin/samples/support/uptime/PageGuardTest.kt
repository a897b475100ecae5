package samples.support.uptime

import com.sun.net.httpserver.Headers
import java.util.Optional
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

class PageGuardTest {
    private val guard = PageGuard(8080)

    @ParameterizedTest
    @CsvSource(
        "127.0.0.1:8080,",
        "localhost:8080,",
        "LOCALHOST:8080,",
        "[::1]:8080,",
        "127.0.0.1:8080, http://127.0.0.1:8080",
        "localhost:8080, http://127.0.0.1:8080",
    )
    fun request_ofThisServer_isNotRefused(host: String, origin: String?) {
        assertEquals(Optional.empty<String>(), guard.refusal(headers(host, origin)))
    }

    @ParameterizedTest
    @ValueSource(strings = ["evil.example:8080", "127.0.0.1", "127.0.0.1:8081", "127.0.0.1:8080.evil.example", ""])
    fun host_foreign_isRefused(host: String) {
        assertEquals("the Host is '$host', not this server", guard.refusal(headers(host, null)).get())
    }

    @ParameterizedTest
    @ValueSource(
        strings = ["http://evil.example", "https://127.0.0.1:8080", "http://127.0.0.1:8081", "http://localhost", "null"]
    )
    fun origin_foreign_isRefused(origin: String) {
        val refusal = guard.refusal(headers("127.0.0.1:8080", origin)).get()
        assertEquals("the Origin is '$origin', not this server", refusal)
    }

    @ParameterizedTest
    @ValueSource(strings = ["cross-site", "same-site", "", "Same-Origin", "same-origin, cross-site"])
    fun site_foreign_isRefused_alsoWithoutAnOrigin(site: String) {
        val headers = headers("127.0.0.1:8080", null).apply { add("Sec-Fetch-Site", site) }
        assertEquals("the Sec-Fetch-Site is '$site', not this server", guard.refusal(headers).get())
    }

    @ParameterizedTest
    @ValueSource(strings = ["same-origin", "none"])
    fun site_ofThisServerOrTheUser_isNotRefused(site: String) {
        val headers = headers("127.0.0.1:8080", null).apply { add("Sec-Fetch-Site", site) }
        assertEquals(Optional.empty<String>(), guard.refusal(headers))
        headers.add("Sec-Fetch-Site", "cross-site")
        assertEquals(true, guard.refusal(headers).isPresent)
    }

    @Test
    fun host_missingOrTwice_isRefused() {
        assertEquals("the Host is missing, not this server", guard.refusal(Headers()).get())
        val twice = headers("127.0.0.1:8080", null).apply { add("Host", "evil.example") }
        assertEquals("the Host is '127.0.0.1:8080, evil.example', not this server", guard.refusal(twice).get())
    }

    @Test
    fun origin_oneOfTwoForeign_isRefused() {
        val two = headers("127.0.0.1:8080", "http://127.0.0.1:8080").apply { add("Origin", "http://evil.example") }
        assertEquals(true, guard.refusal(two).isPresent)
    }

    @Test
    fun host_onPort80_needsNoPort() {
        assertEquals(Optional.empty<String>(), PageGuard(80).refusal(headers("localhost", "http://localhost")))
    }

    private fun headers(host: String, origin: String?) =
        Headers().apply {
            add("Host", host)
            if (origin != null) add("Origin", origin)
        }
}
