package guide.readme

import baton.PermitTimeoutException
import baton.channels.Channel
import baton.parallel.mapLimit
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import baton.sync.Semaphore
import baton.sync.withPermit
import java.io.IOException
import java.nio.file.Path
import java.time.LocalTime
import java.time.ZoneId
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel as TheirChannel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The Kotlin code of README.md, which `MarkdownTest` compares. */
class ReadmeKotlinTest {
    private class Client(private val failures: Int = 0) {
        var requests = 0
            private set

        suspend fun get(path: String): String {
            delay(1.seconds)
            if (++requests <= failures) throw IOException("down")
            return "page of $path"
        }
    }

    private var client = Client()

    // The semaphore.

    val uplink = Semaphore(permits = 5, name = "uplink")

    suspend fun fetchOrNull(path: String): String? =
        try {
            uplink.withPermit(100.milliseconds) { client.get(path) }
        } catch (e: PermitTimeoutException) {
            null // five requests run, and none has ended within 100 ms
        }

    @Test
    fun semaphore_whosePermitsAreTaken_refusesInTime() = runTest {
        val running = List(5) { launch { fetchOrNull("/a") } }
        delay(1.milliseconds)
        assertNull(fetchOrNull("/b"))
        assertEquals(101, currentTime)
        running.forEach { it.join() }
        assertEquals("page of /b", fetchOrNull("/b"))
        assertEquals(5, uplink.availablePermits)
    }

    // The limiter for each key.

    val perCustomer = RateLimiters<String>(10 per 1.seconds, burst = 20)

    suspend fun fetchFor(customer: String, path: String): String = perCustomer.withPermit(customer) { client.get(path) }

    @Test
    fun limiter_ofOneCustomer_doesNotSlowTheOther() = runTest {
        repeat(30) { launch { fetchFor("a", "/a") } }
        delay(500.milliseconds)
        launch { fetchFor("b", "/b") }.join()
        assertEquals(1_500, currentTime)
    }

    // The pipeline.

    val billing =
        ResiliencePipeline(
            "billing",
            retry = RetryPolicy(maxAttempts = 3),
            breaker = CircuitBreaker(name = "billing"),
            limiter = RateLimiter.tokenBucket(100 per 1.seconds),
            semaphore = Semaphore(permits = 10),
            attemptTimeout = 2.seconds,
        )

    suspend fun invoice(id: String): String =
        billing.call(fallback = { e -> "no invoice now: ${e.message}" }) { client.get("/invoices/$id") }

    @Test
    fun pipeline_retriesAndFallsBack() = runTest {
        client = Client(failures = 2)
        assertEquals("page of /invoices/7", invoice("7"))
        client = Client(failures = 3)
        assertEquals("no invoice now: down", invoice("7"))
        assertEquals(3, client.requests)
    }

    // The bounded map.

    suspend fun fetchAll(paths: List<String>): List<String> = paths.mapLimit(5) { client.get(it) }

    @Test
    fun map_bounded_runsFiveAtATime() = runTest {
        val paths = List(12) { "/$it" }
        assertEquals(paths.map { "page of $it" }, fetchAll(paths))
        assertEquals(3_000, currentTime)
    }

    // The channels.

    val urgent = Channel<String>(capacity = 64)
    val ordinary = Channel<String>(capacity = 64)

    suspend fun nextJob(): String? = select {
        urgent.onReceive { it }
        ordinary.onReceive { it }
        onTimeout(1.seconds) { null }
    }

    @Test
    fun select_takesTheFirst_andLosesNothing() = runTest {
        val waiting = TheirChannel<String?>(1)
        launch { waiting.send(nextJob()) }
        delay(1.milliseconds)
        ordinary.send("report")
        urgent.send("alarm")
        assertEquals(listOf("report", "alarm", null), listOf(waiting.receive(), nextJob(), nextJob()))
        assertEquals(0, ordinary.size + urgent.size)
    }

    // The schedule.

    fun startReports(scope: CoroutineScope, file: Path): Schedule<String> {
        val store = JournalScheduleStore(file, KeyCodec.STRING) // survives a restart; or a database
        val schedule = Schedule(store, name = "reports") { due -> send(due.key) }
        scope.launch { schedule.run() }
        schedule.put("daily", Trigger.daily(LocalTime.of(9, 0), ZoneId.of("Europe/Berlin")))
        schedule.put("health", Trigger.every(30.seconds))
        return schedule
    }

    private val sent = CompletableDeferred<String>()

    private fun send(report: String) {
        sent.complete(report)
    }

    @Test
    fun schedule_runsAndKeepsItsEntries(@TempDir folder: Path): Unit = runBlocking {
        val file = folder.resolve("reports.journal")
        val job = launch {
            val schedule = startReports(this, file)
            schedule.triggerNow("health")
        }
        assertEquals("health", sent.await())
        job.cancelAndJoin()
        val again = Schedule(JournalScheduleStore(file, KeyCodec.STRING)) {}
        val running = launch { again.run() }
        while (again.size < 2) delay(1.milliseconds)
        running.cancelAndJoin()
    }
}
