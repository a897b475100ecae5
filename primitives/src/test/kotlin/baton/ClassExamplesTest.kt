package baton

import baton.channels.Channel
import baton.monitoring.AlertRules
import baton.monitoring.Monitor
import baton.monitoring.Usage
import baton.parallel.MemoryGate
import baton.parallel.Outcome
import baton.parallel.forEachLimit
import baton.parallel.getOrNull
import baton.parallel.getOrThrow
import baton.parallel.mapLimit
import baton.parallel.mapSettled
import baton.parallel.processInChunks
import baton.resilience.Backoff
import baton.resilience.BreakerState
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakers
import baton.resilience.Jitter
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateLimiters
import baton.resilience.RetryAfter
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.per
import baton.resilience.retry
import baton.resilience.withPermit
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.Mutexes
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.Semaphores
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import baton.tasks.SingleFlight
import baton.tasks.suspendingLazy
import java.io.IOException
import java.net.URI
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The examples in the documentation of the classes. */
class ClassExamplesTest {
    private val done = mutableListOf<Any?>()
    private val names = listOf("a", "b", "c")

    @Test
    fun monitor_example_raisesAnAlert() {
        runTest {
            val pool =
                object {
                    val active = 7L
                }
            val semaphore = Semaphore(2)
            val monitor =
                Monitor(backgroundScope, rules = AlertRules(utilisation = 0.70, after = 5.seconds)) {
                    done += it.source
                }
            monitor.watch(semaphore, name = "uplink")
            monitor.watch("pool") { Usage(inUse = pool.active, capacity = 10) }
            delay(6.seconds)
            assertEquals(0.seconds, monitor.snapshot()["uplink"]?.longestWait)
            assertEquals(listOf<Any?>("pool"), done)
        }
    }

    @Test
    fun semaphore_example_runsAllDownloads() {
        runTest {
            val downloads = Semaphore(permits = 3)
            names.forEach { url -> launch { downloads.withPermit { done += url } } }
        }
        assertEquals(names, done)
    }

    @Test
    fun mutex_example_addsTheAmount() = runTest {
        val mutex = Mutex()
        var balance = 1L

        suspend fun deposit(amount: Long) = mutex.withLock { balance += amount }
        deposit(2)
        assertEquals(3, balance)
    }

    @Test
    fun condition_example_takesThePutItem() = runTest {
        val mutex = Mutex()
        val notEmpty = mutex.newCondition()
        val items = ArrayDeque<String>()

        suspend fun take(): String =
            mutex.withLock {
                while (items.isEmpty()) notEmpty.await()
                items.removeFirst()
            }

        suspend fun put(item: String) =
            mutex.withLock {
                items.addLast(item)
                notEmpty.signal()
            }
        launch { put("a") }
        assertEquals("a", take())
    }

    @Test
    fun readWriteLock_example_findsTheReplacedValue() = runTest {
        val lock = ReadWriteLock()
        val store = HashMap<String, Int>()

        suspend fun find(key: String): Int? = lock.withRead { store[key] }

        suspend fun replace(key: String, value: Int) = lock.withWrite { store[key] = value }
        replace("a", 1)
        assertEquals(1, find("a"))
    }

    @Test
    fun latch_example_awaitsAllParts() = runTest {
        val ready = Latch(count = names.size)
        names.forEach { part ->
            launch {
                done += part
                ready.countDown()
            }
        }
        ready.await()
        assertEquals(names, done)
    }

    @Test
    fun waitGroup_example_awaitsTheCallback() = runTest {
        fun sendAsync(callback: () -> Unit) = launch { callback() }
        val group = WaitGroup()
        group.add()
        val sent = sendAsync { group.done() }
        group.await()
        sent.join()
        assertEquals(0, group.count)
    }

    @Test
    fun barrier_example_swapsOncePerPhase() {
        runTest {
            val barrier = Barrier(parties = 3) { done += "swap" }
            repeat(3) {
                launch {
                    repeat(2) {
                        done += "compute"
                        barrier.arrive()
                    }
                }
            }
        }
        val phase = listOf("compute", "compute", "compute", "swap")
        assertEquals(phase + phase, done)
    }

    @Test
    fun channel_example_receivesAllPages() {
        runTest {
            val pages = Channel<String>(capacity = 10)
            launch { for (page in pages) done += page }
            names.forEach { url -> pages.send(url) }
            pages.close()
        }
        assertEquals(names, done)
    }

    @Test
    fun reservation_example_sendsOneElement() = runTest {
        val channel = Channel<String>(capacity = 1)
        channel.reserve().use { place -> place.send(names.first()) }
        val result = channel.tryReceive()
        if (result.isSuccess) done += result.getOrThrow()
        assertEquals(listOf("a"), done)
    }

    private class HttpFailure(val retryAfter: String?) : IOException()

    private class Answer(val status: Int, val retryAfter: String?)

    @Test
    fun retry_example_sendsUntilItIsAccepted() = runTest {
        val url = "a"
        fun fetch(url: String) = "body of $url"
        fun send(number: Int) = if (number < 3) Answer(503, "2") else Answer(200, null)
        val policy =
            RetryPolicy(
                maxAttempts = 5,
                backoff = Backoff.exponential(200.milliseconds),
                jitter = Jitter.Full,
                retryAfter = { RetryAfter.parse((it as? HttpFailure)?.retryAfter) },
                budget = RetryBudget(ratio = 0.2, burst = 10),
            )
        val body = retry { fetch(url) }
        val answer =
            retry(
                policy,
                retryResult = { it.status == 429 || it.status == 503 },
                resultRetryAfter = { RetryAfter.parse(it.retryAfter) },
            ) { attempt ->
                send(attempt.number)
            }
        assertEquals("body of a", body)
        assertEquals(200, answer.status)
        assertEquals(4_000, currentTime)
        val growing = Backoff { attempt -> attempt.seconds }
        assertEquals(7.seconds, growing.delay(7))
    }

    @Test
    fun retryParts_examples_areShown() = runTest {
        val url = "a"
        fun log(text: String) {
            done += text
        }
        var failures = 2
        fun fetch(url: String) = if (failures-- > 0) throw IOException("reset") else "body of $url"
        val spread = RetryPolicy(jitter = Jitter.Full)
        val nearly = RetryPolicy(jitter = Jitter.Factor(0.1))
        val body = retry { attempt ->
            if (attempt.number > 1) log("attempt ${attempt.number} after ${attempt.delay}: ${attempt.lastFailure}")
            fetch(url)
        }
        assertEquals("body of a", body)
        assertEquals(2, done.size)
        assertEquals(listOf(Jitter.Full, Jitter.Factor(0.1)), listOf(spread.jitter, nearly.jitter))
        val headers = listOf("120", "Sun, 06 Nov 1994 08:49:37 GMT", "soon")
        assertEquals(listOf("2m", "0s", "null"), headers.map { RetryAfter.parse(it).toString() })
    }

    @Test
    fun rateLimiter_example_fetchesAtTheRate() = runTest {
        val urls = List(40) { "$it" }
        val fetchedAt = mutableListOf<Long>()
        fun fetch(url: String) = "body of $url".also { fetchedAt += currentTime }
        val limiter = RateLimiter.tokenBucket(10 per 1.seconds, burst = 20)
        coroutineScope { urls.forEach { url -> launch { limiter.withPermit { fetch(url) } } } }
        assertEquals(List(20) { 0L } + (1..20).map { 100L * it }, fetchedAt)
        val three = 3
        fun send(number: Int) = fetchedAt.add(number.toLong())
        val reservation = limiter.reserve(3)
        delay(reservation.delay)
        send(three)
        assertEquals(2_300, currentTime)
        val semaphore = Semaphore(2)
        assertEquals("body of x", limiter.withPermit { semaphore.withPermit { fetch("x") } })
        val severalRates = RateLimiter.of(Rate(10, 1.seconds), Rate(1_000, 1.hours), burst = 20)
        assertEquals("body of x", severalRates.withPermit { fetch("x") })
        assertEquals("body of x", semaphore.withPermit(timeout = 100.milliseconds) { fetch("x") })
        assertEquals(Rate(10, per = 1.seconds), 10 per 1.seconds)
    }

    @Test
    fun breaker_examples_fetchThePage() = runTest {
        val url = URI("http://example.org/a")
        fun fetch(url: URI) = "page ${url.path}"
        val config =
            CircuitBreakerConfig(
                window = SlidingWindow.Time(10.seconds),
                minimumCalls = 20,
                slowCall = 2.seconds,
                slowRate = 0.8,
                openFor = Backoff.exponential(5.seconds),
                maxOpenFor = 2.minutes,
                isFailure = { it is IOException },
            )
        val breaker = CircuitBreaker(config)
        val limiter = RateLimiter.tokenBucket(10 per 1.seconds)
        val semaphore = Semaphore(3)
        val perHost = CircuitBreakers<String>(config, keepIdle = 10.minutes)
        val pages =
            listOf(
                breaker.protect { fetch(url) },
                breaker.protect { withTimeout(1.seconds) { fetch(url) } },
                retry { breaker.protect { limiter.withPermit { semaphore.withPermit { fetch(url) } } } },
                perHost.protect(url.host) { fetch(url) },
            )
        assertEquals(List(4) { "page /a" }, pages)
        assertEquals(BreakerState.CLOSED, breaker.state)
        breaker.onChange { _, _ -> }.close()
    }

    private data class AccountId(val number: Int)

    @Test
    fun keys_examples_useAnObjectForEach() = runTest {
        val sent = mutableListOf<String>()
        val perCustomer = RateLimiters<String>(Rate(10, 1.seconds), burst = 20)
        perCustomer.withPermit("customer") { sent.add(it) }
        val perHost = Semaphores<String>(permits = 4)
        val locks = Mutexes<AccountId>()
        val a = AccountId(1)
        val b = AccountId(2)
        locks.withLock(a) { sent.add("$it") }
        locks.withLocks(a, b) { sent.add("both") }
        val breakers = CircuitBreakers<String>(CircuitBreakerConfig())
        assertEquals("page /a", perHost.withPermit("example.org") { breakers.protect(it) { "page /a" } })
        assertEquals(listOf("customer", "AccountId(number=1)", "both"), sent)
    }

    @Test
    fun flight_examples_loadOnce() = runTest {
        val flight = SingleFlight<Int, String>()
        assertEquals("user 1", flight.run(1) { "user $it" })
        val config = suspendingLazy { "config" }
        assertEquals("config", config.get())
    }

    private fun fetch(url: String): String = "page $url".also { done += url }

    private fun show(page: String) {
        done += page
    }

    private fun log(cause: Throwable) {
        done += cause
    }

    @Test
    fun maps_examples_fetchAllPages() = runTest {
        val urls = names
        val pages = urls.mapLimit(5) { fetch(it) }
        val heavy = urls.mapLimit(10, weight = { if (it.endsWith(".pdf")) 5 else 1 }) { fetch(it) }
        val stored = mutableListOf<String>()
        urls.forEachLimit(5) { stored += fetch(it) }
        urls.asFlow().mapLimit(5) { fetch(it) }.collect { page -> show(page) }
        val all = listOf("page a", "page b", "page c")
        assertEquals(listOf(all, all, all), listOf(pages, heavy, stored))
        assertEquals(all, done.filter { it in all })
    }

    private fun save(pages: List<String>) {
        done.add(pages)
    }

    @Test
    fun chunks_examples_areSavedInOrder() = runTest {
        val urls = List(120) { "$it" }
        urls.processInChunks(size = 50, limit = 10) { fetch(it) }.collect { pages -> save(pages) }
        val gate = MemoryGate(high = 0.80, low = 0.70, maxBytes = 512L shl 20)
        urls.processInChunks(size = 50, limit = 10, gate = gate) { fetch(it) }.collect { save(it) }
        val chunks = urls.map { "page $it" }.chunked(50)
        assertEquals(chunks + chunks, done.filterIsInstance<List<*>>())
    }

    @Test
    fun outcomes_examples_areShownOrLogged() = runTest {
        val urls = names
        val outcomes = urls.mapSettled(limit = 5, maxFailures = 1) { fetch(it) }
        val pages = outcomes.mapNotNull { it.getOrNull() }
        for (outcome in outcomes) {
            when (outcome) {
                is Outcome.Success -> show(outcome.value)
                is Outcome.Failure -> log(outcome.cause)
                is Outcome.Cancelled -> log(outcome.cause)
                Outcome.NotStarted -> {}
            }
        }
        assertEquals("page a", outcomes.first().getOrThrow())
        assertEquals(names + pages, done)
    }
}
