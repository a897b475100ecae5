package samples

import baton.parallel.forEachLimit
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.per
import baton.resilience.retry
import java.io.IOException
import kotlin.streams.asSequence
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import samples.support.ImportOptions
import samples.support.ImportRecord
import samples.support.QuotaLimits
import samples.support.QuotaReport
import samples.support.RefusedException

/**
 * The second part of [BatchImport]: the server accepts 200 calls a second, and is out for two seconds. With retries
 * alone every record arrives, but many calls are refused. With a limiter none is above the quota, and with a breaker
 * few go into the outage. `samples.java.QuotaImport` is the same in Java.
 */
internal class QuotaImport(
    private val options: ImportOptions,
    private val report: QuotaReport,
    private val send: suspend (ImportRecord) -> String,
) {
    private val policy =
        RetryPolicy(
            maxAttempts = options.attempts,
            backoff = Backoff.exponential(100.milliseconds),
            jitter = Jitter.Equal,
            maxDelay = 1.seconds,
            // A call that an open breaker refuses waits until it may be let in, or for the back-off if that is longer.
            retryIf = { RefusedException.isTemporary(it) || it is CircuitOpenException },
            onRetry = report::retried,
        )

    fun retryOnly() = importAll { record -> retry(policy) { send(record) } }

    fun withLimiterAndBreaker() {
        val limiter = RateLimiter.tokenBucket(QuotaLimits.RATE per 1.seconds, burst = QuotaLimits.BURST.toLong())
        val breaker =
            CircuitBreaker(
                CircuitBreakerConfig(
                    window = SlidingWindow.Calls(QuotaLimits.WINDOW),
                    failureRate = QuotaLimits.FAILURES.toDouble() / QuotaLimits.WINDOW,
                    openFor = Backoff.constant(500.milliseconds),
                    probes = QuotaLimits.PROBES,
                )
            )
        breaker.onChange(report::changed)
        // The retry is outside: each attempt counts. The limiter is inside: a refused call takes no permit.
        val upstream = ResiliencePipeline("import", retry = policy, breaker = breaker, limiter = limiter)
        importAll { record -> upstream.call { send(record) } }
    }

    /** A record that waits for its retry keeps its place among those under way. */
    private fun importAll(deliver: suspend (ImportRecord) -> Unit) = runBlocking {
        ImportRecord.read(options.quotaRecords).asSequence().forEachLimit(QuotaLimits.UNDER_WAY) { record ->
            try {
                deliver(record)
                report.answered()
            } catch (failure: IOException) {
                report.failed(failure)
            } catch (refused: CircuitOpenException) {
                report.failed(refused)
            }
        }
    }
}
