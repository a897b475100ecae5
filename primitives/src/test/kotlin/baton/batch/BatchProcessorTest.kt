package baton.batch

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.ResultNotAcceptedException
import baton.resilience.RetryPolicy
import baton.resilience.per
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.ValueSource

class BatchProcessorTest {
    /** Other tests of this JVM may have filled the heap. */
    private val anyHeap = ConcurrencyConfig.Memory(maxHeapUsageMB = Int.MAX_VALUE, gcThresholdPercent = 100)
    private val config = configOf(tasks = 3)

    private fun configOf(tasks: Int, retry: ConcurrencyConfig.Retry = ConcurrencyConfig.Retry()) =
        ConcurrencyConfig(tasks, batchSize = 4, retry, memory = anyHeap)

    private val once = RetryPolicy(maxAttempts = 1)

    /** As in a breaker and a retry: an outcome is one for all. */
    @Test
    fun outcomes_areThoseOfTheBreaker() = runTest {
        val breaker =
            CircuitBreaker(
                CircuitBreakerConfig(
                    minimumCalls = 100,
                    ignoreIf = { it is IllegalArgumentException },
                    failureResult = { it == 503 },
                )
            )
        val handed = ArrayList<Int>()
        val policy = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds))
        val report =
            BatchProcessor(config, policy, breaker = breaker).process(
                1..5,
                onResult = { _, result: Int -> handed += result },
            ) {
                when (it) {
                    1 -> 503
                    2 -> throw IllegalArgumentException("local")
                    3 -> throw IOException("down")
                    4 -> throw LinkageError()
                    else -> 200
                }
            }
        assertEquals(listOf(200), handed)
        assertEquals(mapOf(1 to 2, 2 to 1, 3 to 2, 4 to 1), report.failed.associate { it.item to it.attempts })
        assertEquals(503, (report.failed.single { it.item == 1 }.cause as ResultNotAcceptedException).result)
        assertEquals(5 to 0.8, breaker.metrics.calls to breaker.metrics.failureRate)
    }

    @Test
    fun results_areHandedOverInOrderAndByOneCoroutine() = runTest {
        val handed = ArrayList<Pair<Int, String>>()
        var running = 0
        val report =
            BatchProcessor(config).process(
                1..10,
                onResult = { item, result ->
                    assertEquals(0, running++)
                    delay(5)
                    handed += item to result
                    running--
                },
            ) { item ->
                delay((20 - item).milliseconds)
                "r$item"
            }
        assertEquals((1..10).map { it to "r$it" }, handed)
        assertEquals(listOf(10L, 0L), listOf(report.succeeded, report.retries))
        assertTrue(report.failed.isEmpty() && report.notStarted.isEmpty())
    }

    @Test
    fun tasks_runAsManyAtATimeAsConfigured() = runTest {
        var running = 0
        var most = 0
        BatchProcessor(config).process(1..50) {
            most = maxOf(most, ++running)
            delay(10)
            running--
        }
        assertEquals(3, most)
    }

    @Test
    fun failures_ofTaskAndOnResult_areReportedWithTheirAttempts() = runTest {
        val transient = IOException("transient")
        val fatal = IllegalStateException("fatal")
        val rejected = IllegalArgumentException("rejected")
        val attempts = ConcurrentHashMap<Int, Int>()
        val report =
            BatchProcessor(config).process(1..6, onResult = { item, _ -> if (item == 5) throw rejected }) { item ->
                val attempt = attempts.merge(item, 1, Int::plus)!!
                if (item == 2 || item == 3 && attempt == 1) throw transient
                if (item == 4) throw fatal
            }
        assertEquals(3, report.succeeded)
        assertEquals(listOf(2, 4, 5), report.failed.map { it.item })
        assertEquals(listOf(3, 1, 1), report.failed.map { it.attempts })
        assertEquals(listOf(transient, fatal, rejected), report.failed.map { it.cause })
        assertEquals(3, report.retries)
    }

    @Test
    fun delays_ofTheConfiguration_doubleUpToTheLongest() = runTest {
        val retry = ConcurrencyConfig.Retry(maxAttempts = 5, 100.milliseconds, 300.milliseconds, jitterFactor = 0.0)
        val times = ArrayList<Long>()
        BatchProcessor(configOf(tasks = 3, retry)).process(listOf(1)) {
            times += currentTime
            throw IOException()
        }
        assertEquals(listOf(0L, 100, 300, 600, 900), times)
    }

    @Test
    fun policy_replacesTheConfiguration() = runTest {
        val policy = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(1.seconds), jitter = Jitter.None)
        val report = BatchProcessor(config, policy).process(listOf(1)) { throw IOException() }
        assertEquals(2, report.failed.single().attempts)
        assertEquals(1_000, currentTime)
    }

    @Test
    fun maxFailures_ofAnIterable_reportsAllTheRest() = runTest {
        val started = ArrayList<Int>()
        val progress = ArrayList<BatchProgress>()
        val report =
            BatchProcessor(configOf(tasks = 1), once).process(
                (1..100).toList(),
                maxFailures = 2,
                onProgress = { progress += it },
            ) { item ->
                started += item
                if (item % 5 == 0) throw IOException()
            }
        assertEquals((1..10).toList(), started)
        assertEquals(listOf(5, 10), report.failed.map { it.item })
        assertEquals((11..100).toList(), report.notStarted)
        assertEquals(8, report.succeeded)
        assertEquals(100L, progress.last().done)
    }

    @Test
    fun maxFailures_byOnResult_stopsToo() = runTest {
        val report =
            BatchProcessor(configOf(tasks = 1), once).process(
                1..100,
                onResult = { _, _ -> throw IOException() },
                maxFailures = 1,
            ) {
                yield()
            }
        assertEquals(100, report.succeeded + report.failed.size + report.notStarted.size)
        assertTrue(report.notStarted.size > 80, "$report")
        assertEquals(0, report.succeeded)
    }

    @Test
    fun maxFailures_ofAFlowThatWaits_endsIt() = runTest {
        val report =
            BatchProcessor(config, once).process(
                flow {
                    for (item in 1..3) emit(item)
                    awaitCancellation()
                },
                maxFailures = 1,
            ) { item ->
                delay(10)
                if (item == 2) throw IOException()
            }
        assertEquals(listOf(2), report.failed.map { it.item })
        assertEquals(2, report.succeeded)
    }

    @ParameterizedTest
    @ValueSource(ints = [Int.MIN_VALUE, -1, 0])
    fun maxFailures_belowOne_isRefusedAtTheCall(maxFailures: Int) = runTest {
        assertThrows<IllegalArgumentException> {
            runBlocking { BatchProcessor().process(error(), maxFailures = maxFailures) {} }
        }
    }

    private fun error() = Iterable<Int> { throw AssertionError("the source was pulled") }

    @Test
    fun progress_neverFallsAndEndsAtAll() = runTest {
        for (total in listOf(0, 1, 4, 5, 50)) {
            val progress = ArrayList<BatchProgress>()
            BatchProcessor(config, once).process((1..total).toList(), onProgress = { progress += it }) {
                if (it % 7 == 0) throw IOException()
            }
            assertEquals(progress.map { it.done }.sorted(), progress.map { it.done })
            assertEquals(listOf(total.toLong(), total.toLong()), progress.last().let { listOf(it.done, it.total) })
            assertEquals(total / 7L, progress.last().failed)
        }
    }

    @Test
    fun progress_ofAFlow_hasNoTotal() = runTest {
        val progress = ArrayList<BatchProgress>()
        BatchProcessor(config).process(flowOfTen(), onProgress = { progress += it }) {}
        assertNull(progress.last().total)
        assertEquals(10, progress.last().done)
        assertTrue("done = 10 of unknown" in "${progress.last()}")
    }

    private fun flowOfTen(): Flow<Int> = (1..10).asFlow()

    @Test
    fun exceptionOfTheSourceOrOfOnProgress_endsTheCall() = runTest {
        val failure = IOException("source")
        val source = flow {
            emit(1)
            throw failure
        }
        assertSame(
            failure,
            runCatching { BatchProcessor(config).process(source) {} }.exceptionOrNull()?.let { it.cause ?: it },
        )
        val thrown = runCatching { BatchProcessor(config).process(1..3, onProgress = { error("progress") }) {} }
        assertEquals("progress", thrown.exceptionOrNull()?.message)
    }

    @Test
    fun cancellationOfATask_isAFailureLikeAnyOther() = runTest {
        val report =
            BatchProcessor(config, once).process(1..4) { item ->
                when (item) {
                    1 -> throw CancellationException("own")
                    2 -> withTimeout(10) { awaitCancellation() }
                    3 -> currentCoroutineContext().cancel()
                }
                yield()
            }
        assertEquals(listOf(1, 2, 3), report.failed.map { it.item })
        assertTrue(report.failed.all { it.cause is CancellationException })
        assertEquals(1, report.succeeded)
    }

    @Test
    fun error_ofATask_isAFailure() = runTest {
        val report = BatchProcessor(config).process(1..2) { if (it == 1) throw StackOverflowError() }
        assertInstanceOf(StackOverflowError::class.java, report.failed.single().cause)
    }

    @Test
    fun cancel_endsTheRunningTasksFirst() = runTest {
        var running = 0
        var hasReport = false
        val call = launch {
            BatchProcessor(config).process(1..100) {
                running++
                try {
                    delay(1.minutes)
                } finally {
                    running--
                }
            }
            hasReport = true
        }
        delay(90.seconds)
        assertEquals(3, running)
        call.cancelAndJoin()
        assertEquals(0, running)
        assertFalse(hasReport)
    }

    @Test
    fun cancellationOfTheSource_endsTheCallWithIt() = runTest {
        val source = flow {
            emit(1)
            withTimeout(5.seconds) { awaitCancellation() }
        }
        val failure = runCatching { BatchProcessor(config).process(source) {} }.exceptionOrNull()
        assertInstanceOf(TimeoutCancellationException::class.java, failure)
    }

    @Test
    fun task_thatWaitsForTheLimiterAtTheStop_isNotBegun() = runTest {
        val limiter = RateLimiter.tokenBucket(1.per(1.seconds), burst = 1)
        val report =
            BatchProcessor(config, once, limiter).process(1..5, maxFailures = 1) { throw IllegalStateException() }
        assertEquals(listOf(1), report.failed.map { it.item })
        assertEquals(listOf(2, 3, 4, 5), report.notStarted)
    }

    @Test
    fun failureOfAChildInTheContextOfTheTask_isAFailureOfItsItem() = runTest {
        val report =
            BatchProcessor(config, once).process(1..3, onResult = { item, _ -> if (item == 2) failInChild() }) { item ->
                if (item == 1) failInChild()
            }
        assertEquals(listOf(1, 2), report.failed.map { it.item })
        assertEquals(1, report.succeeded)
    }

    private suspend fun failInChild() {
        CoroutineScope(currentCoroutineContext()).launch { throw IOException("child") }
    }

    @Test
    fun cancel_withinAnOnResultThatDoesNotSuspend_handsNothingElseOver() = runTest {
        val handed = ArrayList<Int>()
        var hasReport = false
        val call = launch {
            val caller = currentCoroutineContext().job
            BatchProcessor(config).process(
                1..8,
                onResult = { item, _ ->
                    handed += item
                    if (item == 2) caller.cancel()
                },
            ) {}
            hasReport = true
        }
        call.join()
        assertEquals(listOf(1, 2), handed)
        assertFalse(hasReport)
    }

    @Test
    fun item_thatAFlowEmitsDuringTheStop_isNotStarted() = runTest {
        val emitted = ArrayList<Int>()
        val source = flow {
            for (item in 1..10) {
                emitted += item
                emit(item)
            }
        }
        val report =
            BatchProcessor(configOf(tasks = 2), once).process(source, maxFailures = 1) {
                delay(10)
                throw IOException()
            }
        assertEquals(listOf(1, 2), report.failed.map { it.item })
        assertEquals(emitted - listOf(1, 2), report.notStarted)
        assertTrue(report.notStarted.isNotEmpty())
    }

    @ParameterizedTest
    @CsvSource("80, 512, 0.8, 0.7", "11, 1, 0.11, 0.01", "10, 1, 0.1, 0.05", "1, 1, 0.01, 0.005")
    fun gate_hasTheBoundsOfTheConfiguration(percent: Int, megabytes: Int, high: Double, low: Double) {
        val gate = ConcurrencyConfig.Memory(megabytes, percent).newGate()
        assertEquals(high, gate.high, 1e-9)
        assertEquals(low, gate.low, 1e-9)
        assertEquals(megabytes * 1_048_576L, gate.maxBytes)
    }

    @Test
    fun toString_showsTheNumbers() = runTest {
        val report = BatchProcessor(config, once).process(listOf("a")) { throw IOException("gone") }
        assertTrue(report.toString().startsWith("BatchReport(succeeded = 0, failed = 1, notStarted = 0, retries = 0, "))
        assertEquals("Failed(a after 1 attempts: java.io.IOException: gone)", "${report.failed.single()}")
        assertEquals("BatchProcessor 'import' ($config)", "${BatchProcessor(config, name = "import")}")
    }
}
