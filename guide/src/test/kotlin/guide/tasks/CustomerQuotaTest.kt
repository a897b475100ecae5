package guide.tasks

import baton.resilience.RateLimitedException
import baton.resilience.RateLimiters
import baton.resilience.per
import kotlin.math.ceil
import kotlin.time.Duration.Companion.days
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import kotlinx.coroutines.delay
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Each customer may make 10 calls a second and 1,000 an hour; a refusal says when to come again. */
class CustomerQuotaTest {
    private class Answer(val status: Int, val retryAfter: Long? = null)

    private class Api {
        private val quota =
            RateLimiters<String>(
                10 per 1.seconds,
                1_000 per 1.hours,
                maxKeys = 10_000,
                maxWaiting = 0,
                name = "customers",
            )

        val customers: Int
            get() = quota.size

        suspend fun serve(customer: String): Answer =
            try {
                quota.withPermit(customer) { Answer(200) }
            } catch (e: RateLimitedException) {
                Answer(429, retryAfter = ceil(e.retryIn.toDouble(DurationUnit.SECONDS)).toLong())
            }
    }

    @Test
    fun customer_overItsQuota_learnsWhenToComeAgain() = runTest {
        val api = Api()
        repeat(10) { assertEquals(200, api.serve("a").status) }
        val refusal = api.serve("a")
        assertEquals(429, refusal.status)
        assertEquals(1, refusal.retryAfter)
        assertEquals(200, api.serve("b").status)
        delay(1.seconds)
        assertEquals(200, api.serve("a").status)
    }

    @Test
    fun customersOfADay_takeNoMemoryOnceTheyAreIdle() = runTest {
        val api = Api()
        repeat(100_000) {
            api.serve("customer $it")
            delay(1.days / 100_000)
        }
        assertTrue(api.customers < 100, "${api.customers} customers are kept")
    }
}
