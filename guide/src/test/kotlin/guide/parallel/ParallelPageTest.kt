package guide.parallel

import baton.batch.BatchProcessor
import baton.batch.ConcurrencyConfig
import baton.parallel.MemoryGate
import baton.parallel.Outcome
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import baton.parallel.processInChunks
import baton.resilience.RetryPolicy
import baton.tasks.cancellableTask
import java.io.IOException
import java.util.Properties
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/parallel-and-batch.md. */
class ParallelPageTest {
    private val lines = ArrayList<String>()

    private fun log(line: String) {
        lines += line
    }

    @Test
    fun titles_tenPages_areInTheirOrder() = runTest {
        val urls = List(10) { "url $it" }
        val titles =
            titles(urls) {
                delay(1.seconds)
                "title of $it\nbody"
            }
        assertEquals(urls.map { "title of $it" }, titles)
        assertEquals(2_000, currentTime)
    }

    @Test
    fun mapSettled_someFail_hasAnOutcomeForEach() = runTest {
        val urls = List(12) { "url $it" }
        fun fetch(url: String) = if (url == "url 0") "page" else throw IOException("down")
        fun save(url: String, page: String) = log("$url: $page")
        val outcomes = urls.mapSettled(limit = 5, maxFailures = 10) { fetch(it) }
        for ((url, outcome) in urls.zip(outcomes)) when (outcome) {
            is Outcome.Success -> save(url, outcome.value)
            is Outcome.Failure -> log("$url: ${outcome.cause}")
            is Outcome.Cancelled -> log("$url: cancelled")
            Outcome.NotStarted -> log("$url: left out, ten others have failed")
        }
        assertEquals("url 0: page", lines.first())
        assertEquals("url 1: java.io.IOException: down", lines[1])
        assertEquals("url 11: left out, ten others have failed", lines.last())
    }

    @Test
    fun weight_ofAPdf_takesFivePlaces() = runTest {
        val paths = listOf("a.pdf", "b.pdf", "c.pdf", "d.txt")
        suspend fun load(path: String): String {
            delay(1.seconds)
            return "file $path"
        }
        val files = paths.mapLimit(10, weight = { if (it.endsWith(".pdf")) 5 else 1 }) { load(it) }
        assertEquals(paths.map { "file $it" }, files)
        assertEquals(2_000, currentTime)
        assertThrows<IllegalArgumentException> { paths.mapLimit(5, weight = { 7 }) { load(it) } }
    }

    @Test
    fun processInChunks_hundredAndTen_areThreeChunks() = runTest {
        val urls = List(110) { "url $it" }
        fun fetch(url: String) = "page of $url"
        fun insert(pages: List<String>) = log("${pages.size} pages")
        urls.processInChunks(size = 50, limit = 10) { fetch(it) }.collect { pages -> insert(pages) }
        assertEquals(listOf("50 pages", "50 pages", "10 pages"), lines)

        val gate = MemoryGate(high = 0.80, low = 0.70, maxBytes = 512L shl 20)
        urls.processInChunks(size = 50, limit = 10, gate = gate) { fetch(it) }.collect { pages -> insert(pages) }
        assertEquals(6, lines.size)
        assertEquals(50.milliseconds, MemoryGate().every)
    }

    @Test
    fun batch_oneFails_isInTheReport() = runTest {
        val orders = listOf("a", "b", "c")
        fun post(order: String) = if (order == "b") throw IOException("no") else "receipt of $order"
        fun store(order: String, receipt: String) = log("$order: $receipt")
        val config = ConcurrencyConfig(maxConcurrentTasks = 8, batchSize = 50)
        val batch = BatchProcessor(config, policy = RetryPolicy(retryIf = { it is IOException }), name = "import")
        val report =
            batch.process(orders, onResult = { order, receipt -> store(order, receipt) }, maxFailures = 100) {
                post(it)
            }
        report.failed.forEach { log("${it.item} after ${it.attempts} attempts: ${it.cause}") }
        val expected = listOf("a: receipt of a", "c: receipt of c", "b after 3 attempts: java.io.IOException: no")
        assertEquals(expected, lines)
        assertEquals(2, report.succeeded)
        assertEquals(listOf<String>(), report.notStarted)
    }

    @Test
    fun properties_ofThePage_haveItsDefaultsAndAreAllThatAreKnown() {
        val keys =
            mapOf(
                "maxConcurrentTasks" to "10",
                "batchSize" to "50",
                "retry.maxAttempts" to "3",
                "retry.baseDelayMs" to "1000",
                "retry.maxDelayMs" to "30000",
                "retry.jitterFactor" to "0.5",
                "memory.maxHeapUsageMB" to "512",
                "memory.gcThresholdPercent" to "80",
                "monitoring.enableMetrics" to "true",
                "monitoring.alertThresholdPercent" to "70",
            )
        val all = Properties()
        keys.forEach { (key, value) -> all["baton.$key"] = value }
        assertEquals("${ConcurrencyConfig()}", "${ConcurrencyConfig.from(all)}")
        val wrong = Properties().apply { this["import.batchsize"] = "1" }
        val refusal = assertThrows<IllegalArgumentException> { ConcurrencyConfig.from(wrong, "import.") }
        assertEquals("unknown key 'import.batchsize'; the nearest known one is 'import.batchSize'", refusal.message)
        assertEquals(8, ConcurrencyConfig.forPool(poolSize = 10, reservePercent = 20).maxConcurrentTasks)
    }

    private class Server {
        var drafts = 0
        var discarded = 0

        fun newDraft() = "draft ${++drafts}"

        fun discard(draft: String) {
            discarded++
            check(draft == "draft $drafts")
        }

        suspend fun fill(draft: String) = delay(draft.length.seconds)

        fun publish(draft: String) = "link of $draft"
    }

    @Test
    fun cancel_ofTheLink_stopsTheUpload() = runTest {
        val server = Server()
        suspend fun cancelled(scope: CoroutineScope) {
            val upload =
                scope.cancellableTask {
                    val draft = server.newDraft()
                    onTeardown { server.discard(draft) } // if this task fails or is cancelled
                    server.fill(draft)
                    draft
                }
            runCurrent()
            val link = upload.then { draft -> server.publish(draft) }
            link.cancel() // stops the upload, too, and discards the draft
            joinAll(upload, link)
            assertTrue(upload.isCancelled)
        }
        cancelled(this)
        assertEquals(1, server.discarded)
        assertEquals(0, currentTime)
    }
}
