package guide.resilience

import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

class Billing(private val get: suspend (path: String) -> String) {
    private val upstream =
        ResiliencePipeline(
            "billing",
            retry = RetryPolicy(maxAttempts = 3),
            breaker = CircuitBreaker(name = "billing"),
            limiter = RateLimiter.tokenBucket(100 per 1.seconds),
            semaphore = Semaphore(10),
            maxWait = 200.milliseconds, // for a permit of the limiter, and for one of the semaphore
            attemptTimeout = 2.seconds,
        )

    suspend fun invoice(id: String): String = upstream.call { get("/invoices/$id") }

    suspend fun invoiceOr(id: String, cached: String): String =
        upstream.call(fallback = { failure -> cached }) { get("/invoices/$id") }
}
