package samples.support.uptime

import baton.Priority
import baton.interop.AsyncSchedule
import java.io.ByteArrayOutputStream
import java.io.PrintStream
import java.net.ConnectException
import java.net.URI
import java.time.Duration
import java.util.concurrent.CompletableFuture
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.openqa.selenium.json.Json as JsonReader

/** The contents of a JSON object. */
internal fun jsonOf(text: String): Map<String, Any?> = JsonReader().toType(text, JsonReader.MAP_TYPE)

@Suppress("UNCHECKED_CAST")
internal fun Map<String, Any?>.objects(name: String) = getValue(name) as List<Map<String, Any?>>

internal fun monitorOptions(vararg args: String): MonitorOptions {
    val given = MonitorOptions.command()
    assertTrue(given.parse(arrayOf(*args), System.out))
    return MonitorOptions.of(given)
}

internal fun endpointOf(name: String, level: Priority = Priority.NORMAL) =
    Endpoint(name, URI("http://fast.demo/"), Duration.ofMinutes(1), level, false)

class PageStateTest {
    private val report =
        MonitorReport(monitorOptions("--concurrency", "7"), PrintStream(ByteArrayOutputStream()), System.err, false)
    private val schedule =
        AsyncSchedule.builder<String> { CompletableFuture.completedFuture<Any?>(null) }.grace(Duration.ZERO).start()
    private val state = PageState(report, schedule)

    @AfterEach fun end() = schedule.close()

    @Test
    fun look_tellsWhatHasChanged_andNothingElse() {
        val one = endpointOf("one", Priority.HIGH)
        val two = endpointOf("two")
        report.edit(listOf(one, two))
        val first = jsonOf(state.look())
        assertEquals(listOf("one", "two"), first.objects("changed").map { it["name"] })
        assertEquals(listOf("UNKNOWN", "UNKNOWN"), first.objects("changed").map { it["state"] })
        assertEquals(emptyList<Any>(), jsonOf(state.look())["changed"])

        report.checkBegins(Duration.ofMillis(12))
        report.answered(one, Duration.ofMillis(34))
        report.checkEnds(one, null)
        repeat(2) {
            report.checkBegins(Duration.ZERO)
            report.checkEnds(two, ConnectException())
        }
        report.paused("two", true)
        val second = jsonOf(state.changes())
        val (up, down) = second.objects("changed")
        assertEquals(
            listOf("one", "HIGH", "UP", false, 34L, ""),
            up.values("name", "level", "state", "paused", "ms", "reason"),
        )
        assertEquals(
            listOf("two", "NORMAL", "DOWN", true, null, "no connection"),
            down.values("name", "level", "state", "paused", "ms", "reason"),
        )
        assertTrue("point" !in second)

        report.edit(listOf(two))
        val third = jsonOf(state.look())
        assertEquals(listOf("one"), third["removed"])
        assertEquals(emptyList<Any>(), third["changed"])
    }

    @Test
    fun option_givenTwice_hasTheLastValue() {
        assertEquals(9, monitorOptions("--concurrency", "7", "--concurrency=9").concurrency())
    }

    @Test
    fun point_holdsTheMostSinceThePreviousLook() {
        val one = endpointOf("one")
        report.edit(listOf(one))
        repeat(3) { report.checkBegins(Duration.ofMillis(10L * it)) }
        repeat(3) { report.checkEnds(one, null) }

        assertEquals(listOf(3L, 20L), (jsonOf(state.look())["point"] as List<*>).drop(1))
        assertEquals(listOf(0L, 0L), (jsonOf(state.look())["point"] as List<*>).drop(1))
    }

    @Test
    fun history_isBounded_andIsThatOfTheLooks() {
        val points = List(PageState.POINTS + 3) { jsonOf(state.look())["point"] }

        assertEquals(points.takeLast(PageState.POINTS), jsonOf(state.present())["history"])
    }

    @Test
    fun latest_isAsOfThePreviousEvent_presentIsAsOfNow() {
        report.edit(listOf(endpointOf("one")))
        state.look()
        report.edit(listOf(endpointOf("two")))

        assertEquals(listOf("one"), jsonOf(state.latest()).objects("endpoints").map { it["name"] })
        assertEquals(listOf("two"), jsonOf(state.present()).objects("endpoints").map { it["name"] })
    }

    @Test
    fun numbers_standBesideThoseOfPolling() {
        report.edit(listOf(endpointOf("one")))
        val numbers = jsonOf(state.present())["numbers"] as Map<*, *>

        assertEquals(7L, numbers["limit"])
        assertEquals(emptyList<Any>(), numbers["alerts"])
        assertEquals(60L, numbers["speed"])
        assertEquals(setOf("CRITICAL", "HIGH", "NORMAL", "LOW", "IDLE"), (numbers["queue"] as Map<*, *>).keys)
        for (name in listOf("reads", "writes", "pollingReads", "pollingWrites")) assertTrue(name in numbers, name)
    }

    @Test
    fun text_withQuotesControlsAndTags_isOneLine() {
        val text = "a\"b\\c\r\n\u0001</script>\u2028ü"

        val json = Json.of(mapOf("text" to text))

        assertEquals(1, json.lines().size, json)
        assertEquals(text, jsonOf(json)["text"])
    }

    private fun Map<String, Any?>.values(vararg names: String) = names.map { getValue(it) }
}
