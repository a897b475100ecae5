package guide.resilience

import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.ResiliencePipeline
import baton.resilience.RetryPolicy
import baton.resilience.per
import baton.sync.Semaphore
import java.io.IOException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The code of docs/resilience.md; `MarkdownTest` compares the two. */
class PageOfResilienceTest {
    /** Answers the third request alone. */
    private class Client {
        private var requests = 0

        fun get(path: String): String = if (++requests == 3) "page of $path" else throw IOException("down")
    }

    @Test
    fun layers_inOneCall() = runTest {
        val breaker = CircuitBreaker()
        val limiter = RateLimiter.tokenBucket(100 per 1.seconds)
        val semaphore = Semaphore(10)
        val client = Client()
        val path = "/a"
        val cached = "cached"
        val upstream =
            ResiliencePipeline(
                "billing",
                retry = RetryPolicy(maxAttempts = 3),
                breaker = breaker,
                limiter = limiter,
                semaphore = semaphore,
                maxWait = 200.milliseconds,
                attemptTimeout = 2.seconds,
            )
        val answer = upstream.call { client.get(path) }
        val stale = upstream.call(fallback = { e -> cached }) { client.get(path) }
        assertEquals(listOf("page of /a", "cached"), listOf(answer, stale))
        assertEquals(6, breaker.metrics.calls)
        assertEquals(10, semaphore.availablePermits)
    }
}
