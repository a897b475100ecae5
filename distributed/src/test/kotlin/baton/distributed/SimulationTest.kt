package baton.distributed

import baton.reportingTo
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestCoroutineScheduler
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Nodes that share a lock while the store, the network and the machines fail, each run from a seed. */
@OptIn(ExperimentalCoroutinesApi::class)
class SimulationTest {
    private data class Held(val node: SimulatedNode, val lease: Lease, val weight: Int)

    private inner class Run(private val seed: Long, private val faultsOf: (Random) -> FaultyStore.Faults) {
        val random = Random(seed)
        val scheduler = TestCoroutineScheduler()
        val time = StandardTestDispatcher(scheduler)
        val backing = FaultyStore.Backing { InMemoryStore { START.plusMillis(scheduler.currentTime) } }
        val faults = faultsOf(random)
        val permits = random.nextInt(1, 4)
        val held = ArrayList<Held>()
        var work = WORK
        var done = 0
        var lost = 0
        val jobs = ArrayList<Job>()
        val nodes = List(NODES) { SimulatedNode(time) }
        val stores = nodes.map { FaultyStore(backing, time, Random(random.nextLong()), faults, it) }
        val clusters =
            nodes.mapIndexed { i, node ->
                Cluster.open(stores[i], LEASE, "node$i", "sim", node, node, Random(random.nextLong()))
            }
        val world = CoroutineScope(time + SupervisorJob())

        fun check() {
            val inside = held.filter { !it.node.isStopped && it.lease.isHeld }.sumOf { it.weight }
            if (inside > permits && violation == null) {
                violation = AssertionError("$inside of $permits inside at ${scheduler.currentTime} ms: $held")
            }
            // Thrown on the thread of the test alone: a coroutine would end by it, and nothing more.
        }

        private var violation: AssertionError? = null

        /** A block whose lease is lost has been told before another one begins, unless its machine stands still. */
        private fun checkBlocks() {
            val running = held.filter { !it.node.isStopped }.sumOf { it.weight }
            if (running > permits && violation == null) {
                violation = AssertionError("$running of $permits blocks run at ${scheduler.currentTime} ms: $held")
            }
        }

        fun throwViolation() {
            violation?.let { throw it }
        }

        fun start() {
            nodes.forEachIndexed { i, node ->
                val scope = CoroutineScope(node + SupervisorJob(world.coroutineContext[Job]))
                val semaphore = clusters[i].semaphore("s", permits, keep = random.nextBoolean())
                repeat(CALLERS) { jobs += scope.launch { call(node, semaphore) } }
            }
        }

        private suspend fun call(node: SimulatedNode, semaphore: DistributedSemaphore) {
            repeat(CALLS) {
                delay(random.nextLong(PAUSE))
                val weight = random.nextInt(1, permits + 1)
                try {
                    val call: suspend (Lease) -> Unit = { lease ->
                        val mine = Held(node, lease, weight)
                        held += mine
                        try {
                            check()
                            delay(random.nextLong(work))
                            check()
                        } finally {
                            held -= mine
                        }
                    }
                    when (random.nextInt(4)) {
                        0 -> semaphore.withPermits(weight, random.nextLong(1, PAUSE).milliseconds, call)
                        1 -> semaphore.tryAcquire(weight)?.use { call(it) }
                        else -> semaphore.withPermits(weight, call)
                    }
                    done++
                } catch (e: LeaseLostException) {
                    lost++
                } catch (e: baton.PermitTimeoutException) {
                    done++
                } catch (e: IllegalStateException) {
                    if (e !is StoreUnavailableException && e !is OutcomeUnknownException) throw e
                    done++
                }
            }
        }

        /** Runs on until all calls have ended, or so much time has passed. */
        fun runFor(time: Duration) {
            val end = scheduler.currentTime + time.inWholeMilliseconds
            while (scheduler.currentTime < end && jobs.any { it.isActive }) {
                scheduler.advanceTimeBy(100)
                scheduler.runCurrent()
                check()
                checkBlocks()
                throwViolation()
            }
        }

        fun finish() {
            faults.slow = 0.0
            faults.lost = 0.0
            faults.answerLost = 0.0
            faults.refused = 0.0
            nodes.forEach { if (it.isStopped) it.goOn() }
            stores.forEach { it.isCutOff = false }
            runFor(1.hours)
            val open = jobs.count { it.isActive }
            assertEquals(
                0,
                open,
                "seed $seed: calls that never end; $held ${nodes.zip(clusters) { n, c -> c.semaphore("s", permits) }} ${backing.text(KEY)}",
            )
            // All is given back once the heartbeats have passed, and then the lock ends.
            val end = scheduler.currentTime + 150_000
            while (scheduler.currentTime < end) {
                scheduler.advanceTimeBy(1_000)
                scheduler.runCurrent()
            }
            val text = backing.text(KEY)
            assertEquals("", text, "seed $seed")
            clusters.forEach { it.close() }
            world.cancel()
            scheduler.advanceUntilIdle()
        }
    }

    private fun simulate(seeds: Int, faults: (Random) -> FaultyStore.Faults, during: Run.() -> Unit) {
        val unexpected = ArrayList<Throwable>()
        val report = { e: Throwable -> if (!isOutage(e)) unexpected += e }
        try {
            reportingTo(report) { simulateSilently(seeds, faults, during) }
            unexpected.firstOrNull()?.let { throw AssertionError("an unexpected exception", it) }
        } catch (e: Throwable) {
            unexpected.forEach { if (it !== e.cause) e.addSuppressed(it) }
            throw e
        }
    }

    /** Each outage of a store is reported. */
    private fun isOutage(e: Throwable) = e.cause is StoreUnavailableException || e.cause is OutcomeUnknownException

    private fun simulateSilently(seeds: Int, faults: (Random) -> FaultyStore.Faults, during: Run.() -> Unit) {
        val only = System.getProperty("simulation.seed")?.toLong()
        for (seed in if (only == null) 0L until seeds else only..only) {
            try {
                Run(seed, faults).run {
                    start()
                    during()
                    finish()
                }
            } catch (e: Throwable) {
                throw AssertionError("seed $seed", e)
            }
        }
    }

    private fun Run.someOf(action: (Int) -> Unit) {
        repeat(3) {
            runFor(random.nextLong(1, 20).seconds)
            action(random.nextInt(NODES))
        }
    }

    @Test fun withoutFaults_allCallsEnd() = simulate(SEEDS, { FaultyStore.Faults() }) { runFor(1.seconds) }

    @Test
    fun slowAndLostCalls_grantNeverTooMuch() =
        simulate(
            SEEDS,
            { FaultyStore.Faults(it.nextDouble(0.1), it.nextDouble(0.1), it.nextDouble(0.1), it.nextDouble(0.1)) },
        ) {
            runFor(60.seconds)
        }

    @Test
    fun stoppedAndCutOffNodes_grantNeverTooMuch() =
        simulate(SEEDS, { FaultyStore.Faults(it.nextDouble(0.05), it.nextDouble(0.05), it.nextDouble(0.05)) }) {
            someOf { i ->
                when (random.nextInt(5)) {
                    0 -> nodes[i].stop()
                    1 -> nodes.forEach { if (it.isStopped) it.goOn() }
                    2 -> stores[i].isCutOff = true
                    3 -> stores.forEach { it.isCutOff = false }
                    else -> nodes[i].wallOffset = java.time.Duration.ofSeconds(random.nextLong(-100, 100))
                }
            }
        }

    @Test
    fun lostDocuments_grantNeverTooMuch() =
        simulate(SEEDS, { FaultyStore.Faults(it.nextDouble(0.05), it.nextDouble(0.05), it.nextDouble(0.05)) }) {
            someOf {
                when (random.nextInt(4)) {
                    0 -> backing.empty()
                    1 -> backing.lose("sim:epoch")
                    else -> backing.lose(KEY)
                }
            }
        }

    // The checks are worth something: each of these breaks a promise on which the rules rely.

    @Test
    fun storeThatIgnoresVersions_isFound() {
        assertThrows(AssertionError::class.java) {
            simulate(SEEDS, { FaultyStore.Faults(slow = 0.2) }) {
                backing.ignoresVersions = true
                runFor(60.seconds)
            }
        }
    }

    @Test
    fun clocksOfDifferentSpeeds_areFound() {
        assertThrows(AssertionError::class.java) {
            simulate(SEEDS, { FaultyStore.Faults() }) {
                nodes[0].speed = 0.25
                work = 60_000
                runFor(2.seconds)
                stores[0].isCutOff = true
                runFor(60.seconds)
            }
        }
    }

    private companion object {
        const val KEY = "sim:semaphore:s"
        const val NODES = 3
        const val CALLERS = 3
        const val CALLS = 4
        const val PAUSE = 3_000L
        const val WORK = 6_000L
        const val SEEDS = 300
        val LEASE = 9.seconds
        val START: java.time.Instant = java.time.Instant.parse("2026-01-01T00:00:00Z")
    }
}
