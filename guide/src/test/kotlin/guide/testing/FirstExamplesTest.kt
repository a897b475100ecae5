package guide.testing

import baton.resilience.RateLimiter
import baton.resilience.per
import baton.sync.withPermit
import baton.test.asBatonClock
import baton.test.assertNoLeaks
import baton.test.explore
import baton.test.shouldBeIdle
import baton.test.shouldHaveWaiters
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** With the imports of docs/testing.md. */
class FirstExamplesTest {
    @Test
    fun `a limiter with a clock needs no call that suspends`() = runTest {
        val limiter = RateLimiter.tokenBucket(1 per 1.seconds, clock = testScheduler.asBatonClock())
        assertTrue(limiter.tryAcquire())
        assertFalse(limiter.tryAcquire())
        delay(1.seconds)
        assertTrue(limiter.tryAcquire())
    }

    @Test
    fun imports_areThoseOfTheOtherFunctions() = explore {
        val semaphore = baton.sync.Semaphore(2)
        launch { assertNoLeaks(semaphore) { semaphore.withPermit {} } }
        afterwards { semaphore.shouldBeIdle() shouldHaveWaiters 0 }
    }
}
