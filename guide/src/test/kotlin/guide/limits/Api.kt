package guide.limits

import baton.resilience.RateLimiters
import baton.resilience.per
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

class Api(private val load: suspend (customer: String) -> String) {
    private val perCustomer = RateLimiters<String>(10 per 1.seconds, burst = 20, name = "customers")

    /** Waits for its turn. */
    suspend fun get(customer: String): String = perCustomer.withPermit(customer) { load(it) }

    /** Throws a `PermitTimeoutException`, at once, if the turn cannot come within 100 ms. */
    suspend fun getSoon(customer: String): String =
        perCustomer.withPermit(customer, timeout = 100.milliseconds) { load(it) }

    /** Whether a request may be served now. */
    fun mayServe(customer: String): Boolean = perCustomer.tryAcquire(customer)
}
