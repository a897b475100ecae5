package baton.test.distributed

import baton.distributed.Cluster
import baton.resilience.RateLimiter
import baton.resilience.per
import baton.test.SimulatedFaults
import baton.test.simulate
import kotlin.concurrent.thread
import kotlin.coroutines.resume
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** What [simulate] runs, and what it says when a seed fails. */
class SimulateTest {
    private class Bank {
        private val paid = ArrayList<String>()
        private var lastToken = 0L

        fun payouts(invoice: String) = paid.count { it == invoice }

        suspend fun isPaid(invoice: String): Boolean {
            delay(1.seconds)
            return invoice in paid
        }

        suspend fun pay(invoice: String, token: Long = Long.MAX_VALUE) {
            delay(1.seconds)
            if (token < lastToken) return
            lastToken = token
            paid += invoice
        }
    }

    private class PayoutJob(private val cluster: Cluster, private val bank: Bank, private val hasTokens: Boolean) {
        suspend fun run() =
            cluster.mutex("payout").withLock { lease ->
                if (!bank.isPaid("inv-7")) {
                    if (hasTokens) bank.pay("inv-7", lease.fencingToken) else bank.pay("inv-7")
                }
            }
    }

    private fun payOut(seeds: Int, hasTokens: Boolean, seed: Long? = null) =
        simulate(seeds, seed) {
            val bank = Bank()
            repeat(3) { node { PayoutJob(cluster, bank, hasTokens).run() } }
            faults {
                stop(15.seconds)
                loseAnswers()
                emptyStore()
            }
            always { bank.payouts("inv-7") <= 1 }
        }

    private fun failureOf(test: () -> Unit): AssertionError = assertThrows(AssertionError::class.java) { test() }

    @Test
    fun jobWithoutTokens_failsWithItsSeedAndEvents() {
        val error = failureOf { payOut(seeds = 1_000, hasTokens = false) }
        val text = checkNotNull(error.message)
        val seed =
            checkNotNull(Regex("""-Dsimulation\.seed=(\d+) or simulate\(seed = \1\)""").find(text)).groupValues[1]
        for (part in
            listOf("is stopped for 15s", "is granted 1 of simulation:mutex:payout with the token", "goes on")) {
            assertTrue(part in text, text)
        }
        assertEquals(text, failureOf { payOut(seeds = 1, hasTokens = false, seed.toLong()) }.message)
    }

    @Test fun jobWithTokens_passes() = payOut(seeds = 300, hasTokens = true)

    @Test
    fun propertyWithASeed_runsThatOneAlone() {
        System.setProperty("simulation.seed", "4711")
        try {
            var runs = 0
            simulate(seeds = 10) { runs++ }
            assertEquals(1, runs)
        } finally {
            System.clearProperty("simulation.seed")
        }
    }

    @Test
    fun sameSeed_hasTheSameSteps_andAnotherSeedOthers() {
        fun stepsOf(seed: Long): List<String> {
            val steps = ArrayList<String>()
            simulate(seed = seed) {
                repeat(3) {
                    node {
                        cluster.mutex("m").withLock { delay(random.nextLong(100)) }
                        steps += "$name at $nanos"
                    }
                }
                faults { delayCalls() }
            }
            return steps
        }
        assertEquals(stepsOf(1), stepsOf(1))
        assertFalse(stepsOf(1) == stepsOf(2))
    }

    @Test
    fun lockThatIsTakenTwice_isAHang_whoseWaitIsNamed() {
        val text = failureOf { simulate { node { cluster.mutex("m").withLock { cluster.mutex("m").lock() } } } }.message
        for (part in listOf("node 1 did not end", "held: 1 of simulation:mutex:m")) {
            assertTrue(part in "$text", text)
        }
        assertTrue("Mutex 'm' of Cluster 'node 1' (permits = 1, in use here = 1, waiting here = 1)" in "$text", text)
    }

    @Test
    fun waitWithoutATimer_isNamed() {
        val text =
            failureOf { simulate(duration = 1.minutes) { node("a") { CompletableDeferred<Unit>().await() } } }.message
        assertTrue("a did not end" in "$text" && "a waits at" in "$text", text)
    }

    @Test
    fun loopInWhichNoTimePasses_ends() {
        val text = failureOf { simulate { node { while (true) yield() } } }.message
        assertTrue("while no time passes" in "$text", text)
    }

    @Test
    fun exceptionOfANode_isTheCause() {
        val thrown = IllegalStateException("no")
        val error = failureOf { simulate { node { launch { throw thrown } } } }
        assertSame(thrown, error.cause)
    }

    @Test
    fun exceptionOfAListener_isFound() {
        val text =
            failureOf {
                    simulate {
                        node {
                            cluster.run {
                                mutex("m").lock().onLost { error("no") }
                                close()
                            }
                        }
                    }
                }
                .message
        assertTrue("an exception was reported" in "$text", text)
    }

    @Test
    fun checkAfterwards_failsTheSeed() {
        val text =
            failureOf {
                    simulate {
                        node {}
                        afterwards { error("no") }
                    }
                }
                .message
        assertTrue("afterwards: java.lang.IllegalStateException: no" in "$text", text)
    }

    @Test
    fun bodyThatDependsOnAnotherSeed_isSaid() {
        var runs = 0
        val text = failureOf { simulate { node { check(++runs != 2) } } }.message
        assertTrue("It does not repeat" in "$text", text)
    }

    @Test
    fun threadThatResumes_isNamed() {
        val test = {
            simulate {
                lateinit var alien: Thread
                node {
                    suspendCancellableCoroutine { caller ->
                        alien = thread(start = false, name = "alien") { caller.resume(Unit) }
                    }
                }
                node {
                    delay(2.seconds)
                    alien.start()
                    alien.join()
                }
            }
        }
        val text = failureOf(test).message
        assertTrue("alien" in "$text", text)
    }

    @Test
    fun endlessNode_isCancelledWithTheOthers() {
        var ended = 0
        simulate(seeds = 10) {
            node(isEndless = true) {
                try {
                    while (true) delay(1.seconds)
                } finally {
                    ended++
                }
            }
            node { delay(1.minutes) }
        }
        assertEquals(10, ended)
    }

    @Test
    fun limiterOfANode_hasItsTime() =
        simulate(seeds = 10) {
            node {
                val limiter = RateLimiter.tokenBucket(1 per 1.seconds)
                val start = nanos
                repeat(61) { limiter.acquire() }
                check(nanos - start >= 60_000_000_000)
            }
        }

    @ParameterizedTest
    @ValueSource(
        strings =
            [
                "is slow",
                "is refused",
                "is lost",
                "loses its answer",
                "comes twice",
                "bell of simulation:mutex:m is lost",
                "is stopped for 15s",
                "is killed",
                "is cut off",
                "jumps by",
                "the store is away for",
                "the store loses simulation:",
                "the store comes back empty",
                "the store forgets its last",
            ]
    )
    fun eachFault_happens(text: String) {
        assertTrue((0L until 60).any { seed -> text in eventsOf(seed, ALL[text]) }, text)
    }

    private fun eventsOf(seed: Long, faults: (SimulatedFaults.() -> Unit)?): String =
        failureOf {
                simulate(seed = seed, duration = 2.hours) {
                    repeat(3) {
                        node { repeat(5) { runCatching { cluster.mutex("m").withLock { delay(1.seconds) } } } }
                    }
                    faults { (faults ?: error("no such fault"))() }
                    afterwards { error("to see the events") }
                }
            }
            .message
            .orEmpty()

    private companion object {
        val ALL: Map<String, SimulatedFaults.() -> Unit> =
            mapOf(
                "is slow" to { delayCalls() },
                "is refused" to { refuseCalls() },
                "is lost" to { loseRequests() },
                "loses its answer" to { loseAnswers() },
                "comes twice" to { repeatCalls() },
                "bell of simulation:mutex:m is lost" to { loseBells() },
                "is stopped for 15s" to { stop(15.seconds) },
                "is killed" to { kill() },
                "is cut off" to { cutOff(15.seconds) },
                "jumps by" to { jumpClock() },
                "the store is away for" to { outage(5.seconds) },
                "the store loses simulation:" to { loseDocument() },
                "the store comes back empty" to { emptyStore() },
                "the store forgets its last" to { forgetWrites() },
            )
    }
}
