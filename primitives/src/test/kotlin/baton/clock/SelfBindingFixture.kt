package baton.clock

import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.Jitter
import baton.resilience.RateLimiter
import baton.resilience.per
import java.io.IOException
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.assertThrows

/** A limiter and a breaker without a clock. */
@OptIn(ExperimentalCoroutinesApi::class)
internal abstract class SelfBindingFixture {
    protected val limiter = RateLimiter.tokenBucket(1 per 1.seconds, name = "api")

    protected val breaker =
        CircuitBreaker(
            CircuitBreakerConfig(minimumCalls = 1, openFor = Backoff.constant(5.seconds), jitter = Jitter.None)
        )

    protected suspend fun fail() {
        assertThrows<IOException> { breaker.protect { throw IOException() } }
    }

    /** The virtual milliseconds that five permits take: the first is there. */
    protected suspend fun TestScope.fivePermits(context: CoroutineContext = coroutineContext): Long {
        val start = currentTime
        withContext(context) { repeat(5) { limiter.acquire() } }
        return currentTime - start
    }
}
