package guide.resilience

import baton.CallGuard
import baton.PermitTimeoutException
import baton.Refusal
import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.resilience.AttemptTimeoutException
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Hedge
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryAfter
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.per
import baton.resilience.retry
import baton.resilience.withPermit
import baton.retryIn
import baton.sync.Semaphore
import baton.sync.withPermit
import java.io.IOException
import java.net.http.HttpResponse
import java.sql.SQLTransientException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.TimeoutCancellationException
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/resilience.md, and its table of outcomes. */
@OptIn(ExperimentalCoroutinesApi::class)
class ResiliencePageTest {
    private val url = "https://billing.example"

    @Test
    fun invoice_thirdAttemptSucceeds_isReturned() = runTest {
        var requests = 0
        val billing = Billing { path -> if (++requests == 3) "page of $path" else throw IOException("down") }
        assertEquals("page of /invoices/7", billing.invoice("7"))
        assertEquals("cached", billing.invoiceOr("8", cached = "cached"))
        assertEquals(6, requests)
    }

    @Test
    fun layersByHand_failOnce_areRetried() = runTest {
        val policy = RetryPolicy()
        val breaker = CircuitBreaker()
        val limiter = RateLimiter.tokenBucket(100 per 1.seconds)
        val semaphore = Semaphore(10)
        var requests = 0
        fun fetch(url: String) = if (++requests == 2) "page of $url" else throw IOException("down")

        val page = retry(policy) { breaker.protect { limiter.withPermit { semaphore.withPermit { fetch(url) } } } }
        assertEquals("page of $url", page)
        assertEquals(2, breaker.metrics.calls)
        assertEquals(2, limiter.metrics.granted)
    }

    private class Account {
        var left = 1

        suspend fun spend(maxWait: Duration): Boolean {
            if (left == 0) delay(maxWait)
            return left-- > 0
        }

        override fun toString() = "account 42"
    }

    private class Quota(private val account: Account) : CallGuard {
        override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
            if (!account.spend(maxWait)) throw PermitTimeoutException("no quota of $account within $maxWait")
            return block()
        }
    }

    @Test
    fun timeLimits_ofPermitAndCallee_areARefusalAndAFailure() = runTest {
        val breaker = CircuitBreaker()
        val semaphore = Semaphore(1)
        suspend fun fetch(url: String) = delay(url.length.seconds)
        suspend fun call() =
            breaker.protect {
                semaphore.withPermit(
                    timeout = 100.milliseconds
                ) { // no permit within 100 ms: a Refusal, the breaker counts nothing
                    withTimeout(2.seconds) { fetch(url) } // no answer within 2 s: a failure of the service
                }
            }
        assertThrows<TimeoutCancellationException> { call() }
        semaphore.acquire()
        assertThrows<PermitTimeoutException> { call() }
        assertEquals(1, breaker.metrics.calls)
        assertEquals(1.0, breaker.metrics.failureRate)
    }

    @Test
    fun guardOfYourOwn_secondCall_isRefused() = runTest {
        val upstream = ResiliencePipeline(semaphore = Quota(Account()), maxWait = 1.seconds)
        assertEquals("page", upstream.call { "page" })
        val refusal = assertThrows<PermitTimeoutException> { upstream.call {} }
        assertEquals("no quota of account 42 within 1s", refusal.message)
    }

    class QuotaExceededException(private val left: Duration) : IOException("no quota"), Refusal {
        override fun retryIn() = left.toJavaDuration()
    }

    suspend fun answer(load: suspend () -> String): Pair<Int, String> =
        try {
            200 to load()
        } catch (e: Exception) {
            if (e !is Refusal) throw e
            val wait = (e.retryIn ?: 1.seconds).coerceAtMost(1.hours) // infinite if a breaker is forced open
            503 to "Retry-After: ${(wait + 999_999_999.nanoseconds).inWholeSeconds}" // rounded up
        }

    @Test
    fun answer_refusal_isA503() = runTest {
        assertEquals(200 to "page", answer { "page" })
        assertEquals(503 to "Retry-After: 7", answer { throw QuotaExceededException(7.seconds) })
        assertEquals(503 to "Retry-After: 8", answer { throw QuotaExceededException(7.seconds + 1.nanoseconds) })
        val forced = CircuitBreaker().apply { trip() }
        assertEquals(503 to "Retry-After: 3600", answer { forced.protect { "page" } })
        val limiter = RateLimiter.tokenBucket(1 per 90.seconds)
        limiter.acquire()
        assertEquals(503 to "Retry-After: 90", answer { limiter.withPermit(Duration.ZERO) { "page" } })
        assertEquals(503 to "Retry-After: 1", answer { throw PermitTimeoutException("busy") })
        assertThrows<IOException> { answer { throw IOException("down") } }
    }

    @Test
    fun retry_failures_areRepeatedAsThePolicySays() = runTest {
        var requests = 0
        fun fetch(url: String, number: Int): String {
            requests++
            return if (number == 3) "page of $url" else throw SQLTransientException()
        }
        val policy =
            RetryPolicy(
                maxAttempts = 5,
                backoff = Backoff.exponential(200.milliseconds),
                retryIf = { it is IOException || it is SQLTransientException },
                budget = RetryBudget(ratio = 0.2, burst = 10),
            )
        val body = retry(policy) { attempt -> fetch(url, attempt.number) }
        assertEquals("page of $url", body)
        assertEquals(3, requests)
        assertEquals(8, policy.budget?.available)
    }

    private class Answer(val status: Int, val retryAfter: String? = null)

    @Test
    fun retryAfter_ofAResult_isAMinimum() = runTest {
        val policy = RetryPolicy()
        val answers = ArrayDeque(listOf(Answer(503, "20"), Answer(200)))
        fun send() = answers.removeFirst()

        val answer =
            retry(
                policy,
                retryResult = { it.status == 429 || it.status == 503 },
                resultRetryAfter = { RetryAfter.parse(it.retryAfter) },
            ) {
                send()
            }
        assertEquals(200, answer.status)
        assertEquals(20_000, currentTime)
    }

    @Test
    fun retryAfter_ofAnOpenBreaker_isWaitedFor() = runTest {
        val breaker = CircuitBreaker()
        breaker.protect {} // binds it to the time of the test
        breaker.openFor(15.seconds)
        val policy = RetryPolicy(retryIf = { it is CircuitOpenException })
        assertEquals("up", retry(policy) { breaker.protect { "up" } })
        assertEquals(15_000, currentTime)
    }

    @Test
    fun breaker_eightOfTwentyAreGood_opens() = runTest {
        fun fetch(url: String) = "page of $url"
        val config =
            CircuitBreakerConfig(
                window = SlidingWindow.Time(10.seconds),
                minimumCalls = 20,
                slowCall = 2.seconds,
                slowRate = 0.8,
                openFor = Backoff.exponential(5.seconds),
            )
        val breaker = CircuitBreaker(config, name = "billing")
        val page = breaker.protect { fetch(url) }
        assertEquals("page of $url", page)
        repeat(19) { runCatching { breaker.protect { if (it >= 7) throw IOException() } } }
        assertEquals(BreakerState.OPEN, breaker.state)
        val refusal = assertThrows<CircuitOpenException> { breaker.protect {} }
        assertTrue(refusal.retryIn > 3.seconds, refusal.message)
    }

    @Test
    fun breaker_openForMaintenance_reportsItsChanges_andOpensByItself() = runTest {
        val lines = ArrayList<String>()
        fun log(line: String) = lines.add(line)
        val breaker = CircuitBreaker(CircuitBreakerConfig(probes = 1))
        breaker.protect {} // binds it to the time of the test
        breaker.onChange { from, to -> log("$from -> $to") }
        breaker.openFor(1.minutes) // maintenance
        assertThrows<CircuitOpenException> { breaker.protect {} }
        delay(1.minutes)
        breaker.protect {}
        assertEquals(listOf("CLOSED -> OPEN", "OPEN -> HALF_OPEN", "HALF_OPEN -> CLOSED"), lines)
    }

    @Test
    fun statuses_ofAClientThatDoesNotThrow_countAsFailures() = runTest {
        val config =
            CircuitBreakerConfig(
                failureResult = { it is HttpResponse<*> && it.statusCode() >= 500 },
                ignoreIf = { it is IllegalArgumentException }, // a mistake of the caller
            )
        val breaker = CircuitBreaker(config)
        breaker.protect { StatusOnly(500) }
        breaker.protect { StatusOnly(404) }
        assertThrows<IllegalArgumentException> { breaker.protect { throw IllegalArgumentException() } }
        assertEquals(2, breaker.metrics.calls)
        assertEquals(0.5, breaker.metrics.failureRate)
    }

    @Test
    fun hedge_firstAttemptIsSilent_secondWins() = runTest {
        var calls = 0
        suspend fun load(): String {
            val call = ++calls
            if (call == 1) delay(10.seconds)
            return "row of call $call"
        }
        val reads = ResiliencePipeline("reads", hedge = Hedge(after = 200.milliseconds))
        val row = reads.call { load() }
        assertEquals("row of call 2", row)
        assertEquals(200, currentTime)
    }

    @Test
    fun onCall_aFailure_isReported() = runTest {
        val lines = ArrayList<String>()
        fun log(line: String) = lines.add(line)
        val upstream = ResiliencePipeline("billing")
        upstream.onCall { event -> log("${event.outcome} after ${event.duration}, ${event.attempts} attempts") }
        upstream.call { delay(1.seconds) }
        assertEquals(listOf("SUCCESS after 1s, 1 attempts"), lines)
    }

    @Test
    fun metrics_afterAFailure_areOneLine() = runTest {
        val lines = ArrayList<String>()
        fun log(line: String) = lines.add(line)
        val breaker = CircuitBreaker(name = "billing")
        assertThrows<IOException> { breaker.protect { throw IOException("down") } }
        log("${breaker.metrics}") // calls = 1, failureRate = 1.0, slowRate = 0.0, rejected = 0
        assertEquals(listOf("calls = 1, failureRate = 1.0, slowRate = 0.0, rejected = 0"), lines)
    }

    @Test
    fun retryIf_byDefault_acceptsTheTimeLimitOfAnAttempt() {
        assertTrue(RetryPolicy().retryIf(AttemptTimeoutException("late")))
    }

    /**
     * Whether it is retried and has a fallback, with the outcome of its event and the calls that the breaker counts.
     */
    private suspend fun row(retryIf: (Throwable) -> Boolean, block: suspend () -> Any): String {
        val config =
            CircuitBreakerConfig(
                isFailure = { it !is NoSuchElementException },
                ignoreIf = { it is IllegalArgumentException },
                failureResult = { it == "bad" },
            )
        val breaker = CircuitBreaker(config)
        val policy = RetryPolicy(maxAttempts = 2, retryIf = retryIf, failAfterLast = true)
        val pipeline = ResiliencePipeline(retry = policy, breaker = breaker)
        val events = ArrayList<CallEvent>()
        pipeline.onCall { events += it }
        val end = runCatching { pipeline.call(fallback = { "fallback" }) { block() } }
        val event = events.single()
        val isRetried = if (event.retries == 1) "retried" else "not retried"
        val fallback = if (end.getOrNull() == "fallback") "fallback" else "no fallback"
        return "${event.outcome}, ${breaker.metrics.calls} counted, $isRetried, $fallback"
    }

    @Test
    fun outcomes_ofTheTable_areThoseOfThePage() = runTest {
        val all: (Throwable) -> Boolean = { true }
        val usual = RetryPolicy().retryIf
        assertEquals("IGNORED, 0 counted, not retried, no fallback", row(all) { throw CancellationException("stop") })
        assertEquals("REFUSED, 0 counted, not retried, fallback", row(usual) { throw PermitTimeoutException("busy") })
        assertEquals("REFUSED, 0 counted, retried, fallback", row(all) { throw PermitTimeoutException("busy") })
        assertEquals("IGNORED, 0 counted, not retried, no fallback", row(all) { throw NotImplementedError() })
        assertEquals("IGNORED, 0 counted, retried, fallback", row(all) { throw IllegalArgumentException() })
        assertEquals("FAILURE, 2 counted, retried, fallback", row(usual) { throw IOException() })
        assertEquals(
            "FAILURE, 2 counted, retried, fallback",
            row(usual) { withTimeout(1.seconds) { delay(2.seconds) } },
        )
        assertEquals("FAILURE, 1 counted, not retried, fallback", row(usual) { throw IllegalStateException() })
        assertEquals("SUCCESS, 2 counted, retried, fallback", row(all) { throw NoSuchElementException() })
        assertEquals("FAILURE, 2 counted, retried, fallback", row(usual) { "bad" })
        assertEquals("SUCCESS, 1 counted, not retried, no fallback", row(all) { "good" })
        assertEquals(CallOutcome.entries.size, 4)
    }
}
