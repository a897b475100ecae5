package guide.limits

import baton.PermitTimeoutException
import baton.monitoring.CallOutcome
import baton.monitoring.Waits
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.RateLimitedException
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.ResiliencePipeline
import baton.resilience.per
import baton.resilience.withPermit
import baton.retryIn
import baton.sync.Mutexes
import baton.sync.Semaphores
import baton.tasks.SingleFlight
import baton.tasks.suspendingLazy
import java.io.IOException
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/limits-and-keys.md. */
@OptIn(ExperimentalCoroutinesApi::class)
class LimitsPageTest {
    private val url = "https://api.example"

    private fun fetch(url: String) = "page of $url"

    /**
     * Of the instants in milliseconds, in the hour from any of them on; an hour ends before the same time of the next.
     */
    private fun mostInAnyHour(instants: List<Long>): Int {
        var last = 0
        return instants.indices.maxOf { first ->
            while (last < instants.size && instants[last] < instants[first] + 1.hours.inWholeMilliseconds) last++
            last - first
        }
    }

    @Test
    fun limitsOfAThousandAnHour_grantNoMoreInAnyHour_alsoAfterAPause() = runTest {
        val evenly = RateLimiters<String>(1_000 per 1.hours, burst = 1)
        val inBursts = RateLimiters<String>(10 per 1.seconds, 500 per 1.hours, burst = 20, name = "customers")
        val mostly = RateLimiters<String>(900 per 1.hours, 10 per 1.seconds, burst = 100)
        for (limiters in listOf(evenly, inBursts, mostly)) {
            val instants = ArrayList<Long>()
            repeat(2) {
                val end = currentTime + 3.hours.inWholeMilliseconds
                while (currentTime < end) {
                    limiters.acquire("ann")
                    instants += currentTime
                }
                delay(5.hours)
            }
            assertTrue(mostInAnyHour(instants) in 999..1_000) { "$limiters: ${mostInAnyHour(instants)}" }
        }
    }

    private val perClient = RateLimiters<String>(10 per 1.seconds, burst = 20, maxWaiting = 0)

    private fun load(client: String) = "page of $client"

    suspend fun serve(client: String): Pair<Int, String> =
        try {
            200 to perClient.withPermit(client) { load(it) }
        } catch (e: RateLimitedException) {
            val seconds = (e.retryIn + 999_999_999.nanoseconds).inWholeSeconds
            429 to "Retry-After: $seconds"
        }

    @Test
    fun serve_secondRequestTooMany_isA429_andTheTimeIsRoundedUp() = runTest {
        repeat(20) { assertEquals(200 to "page of ann", serve("ann")) }
        assertEquals(429 to "Retry-After: 1", serve("ann"))
        assertEquals(200 to "page of bob", serve("bob"))
        assertEquals(0, currentTime)
        val late = assertThrows<PermitTimeoutException> { perClient.withPermit("ann", timeout = 99.milliseconds) {} }
        assertEquals(100.milliseconds, late.retryIn)
        delay(1.seconds)
        assertEquals(200 to "page of ann", serve("ann"))
    }

    @Test
    fun limitOfACustomer_whoIsThrottled_isInTheDumpAndARefusalOfThePipeline() = runTest {
        val perCustomer = RateLimiters<String>(1 per 1.hours, name = "throttled customers")
        val upstream = ResiliencePipeline("billing")
        val outcomes = ArrayList<CallOutcome>()
        upstream.onCall { outcomes += it.outcome }
        upstream.call { perCustomer.withPermit("ann", timeout = 1.seconds) {} }
        assertThrows<PermitTimeoutException> { upstream.call { perCustomer.withPermit("ann", timeout = 1.seconds) {} } }
        assertEquals(listOf(CallOutcome.SUCCESS, CallOutcome.REFUSED), outcomes)
        val waiter = launch { perCustomer.acquire("ann") }
        runCurrent()
        assertTrue("throttled customers[ann]" in Waits.dump())
        waiter.cancel()
    }

    @Test
    fun api_thirtyRequestsOfACustomer_takeASecond() = runTest {
        val api = Api { "for $it" }
        repeat(30) { assertEquals("for ann", api.get("ann")) }
        assertEquals(1_000, currentTime)
        assertFalse(api.mayServe("ann"))
        assertTrue(api.mayServe("bob"))
        assertEquals("for ann", api.getSoon("ann"))
        assertEquals(1_100, currentTime)
        val waiter = launch { api.get("ann") }
        runCurrent()
        assertThrows<PermitTimeoutException> { api.getSoon("ann") }
        assertEquals(1_100, currentTime)
        waiter.join()
    }

    @Test
    fun limiters_ofThePage_grantAsItSays() = runTest {
        val bursts = RateLimiter.tokenBucket(10 per 1.seconds, burst = 20)
        val even = RateLimiter.leakyBucket(10 per 1.seconds) // one each 100 ms
        val both = RateLimiter.of(10 per 1.seconds, 1_000 per 1.hours, burst = 20)
        bursts.withPermit { fetch(url) }
        assertEquals(19, bursts.availablePermits)
        repeat(5) { even.acquire() }
        assertEquals(400, currentTime)
        var granted = 0
        val start = currentTime
        while (currentTime - start < 1.hours.inWholeMilliseconds) {
            both.acquire()
            granted++
        }
        assertEquals(2_000, granted)
    }

    @Test
    fun reserve_threePermits_haveADelay() = runTest {
        val bursts = RateLimiter.tokenBucket(10 per 1.seconds, burst = 20)
        val three = listOf("a", "b", "c")
        val sent = ArrayList<String>()
        fun send(all: List<String>) = sent.addAll(all)
        bursts.acquire(20)
        val reservation = bursts.reserve(3)
        delay(reservation.delay)
        send(three)
        assertEquals(300, currentTime)
        assertEquals(three, sent)
        assertEquals(null, bursts.tryReserve(3, maxWait = 0.seconds))
    }

    @Test
    fun byKey_twoHosts_doNotSlowEachOther() = runTest {
        val config = CircuitBreakerConfig()
        val host = "api.example"
        val perHost = Semaphores<String>(permits = 4)
        val breakers = CircuitBreakers<String>(config, keepIdle = 10.minutes)
        val page = breakers.protect(host) { perHost.withPermit(host) { fetch(url) } }
        assertEquals("page of $url", page)
        assertEquals(0, perHost.size)
        assertEquals(1, breakers.size)
    }

    @Test
    fun withLocks_oppositeOrder_doesNotDeadlock() = runTest {
        val balances = hashMapOf("a" to 10, "b" to 10)
        suspend fun transfer(from: String, to: String) {
            val before = balances.getValue(from)
            delay(1.seconds)
            balances[from] = before - 1
            balances.merge(to, 1, Int::plus)
        }
        val locks = Mutexes<String>()
        suspend fun move(from: String, to: String) {
            locks.withLocks(from, to) { transfer(from, to) }
        }
        listOf(async { move("a", "b") }, async { move("b", "a") }).awaitAll()
        assertEquals(mapOf("a" to 10, "b" to 10), balances)
        assertEquals(2_000, currentTime)
    }

    @Test
    fun singleFlight_threeCallers_loadOnce() = runTest {
        var loads = 0
        suspend fun loadUser(id: String): String {
            loads++
            delay(1.seconds)
            return "user $id"
        }
        val flight = SingleFlight<String, String>()
        suspend fun get(id: String): String {
            val user = flight.run(id) { loadUser(it) }
            return user
        }
        assertEquals(List(3) { "user 7" }, List(3) { async { get("7") } }.awaitAll())
        assertEquals(1, loads)
        get("7")
        assertEquals(2, loads)
    }

    @Test
    fun suspendingLazy_firstLoadFails_triesAgain() = runTest {
        var loads = 0
        fun loadSettings() = if (++loads == 1) throw IOException() else 8080
        val settings = suspendingLazy { loadSettings() }
        assertThrows<IOException> { settings.get() }
        val port = settings.get()
        assertEquals(listOf(8080, 8080), listOf(port, settings.get()))
        assertEquals(2, loads)
    }
}
