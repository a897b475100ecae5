package baton.distributed

import baton.reportingTo
import baton.resilience.Rate
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

/** Nodes that share a limiter while the store, the network and the machines fail, each run from a seed. */
@OptIn(ExperimentalCoroutinesApi::class)
class LimiterSimulationTest {
    private class Run(seed: Long, faultsOf: (Random) -> FaultyStore.Faults) {
        val random = Random(seed)
        val scheduler = TestCoroutineScheduler()
        val time = StandardTestDispatcher(scheduler)
        val backing = FaultyStore.Backing { InMemoryStore { START.plusMillis(scheduler.currentTime) } }
        val faults = faultsOf(random)
        val rate = Rate(random.nextLong(1, 20), 1.seconds)
        val burst = random.nextLong(1, 12)
        val grants = GrantLog()
        val jobs = ArrayList<Job>()
        val nodes = List(NODES) { SimulatedNode(time) }
        val stores = nodes.map { FaultyStore(backing, time, Random(random.nextLong()), faults, it) }
        val clusters =
            nodes.mapIndexed { i, node ->
                Cluster.open(stores[i], LEASE, "node$i", "sim", node, node, Random(random.nextLong()))
            }
        val world = CoroutineScope(time + SupervisorJob())

        fun start() {
            nodes.forEachIndexed { i, node ->
                val scope = CoroutineScope(node + SupervisorJob(world.coroutineContext[Job]))
                val limiter = clusters[i].rateLimiter("l", rate, burst)
                repeat(CALLERS) { jobs += scope.launch { call(limiter) } }
            }
        }

        private suspend fun call(limiter: DistributedRateLimiter) {
            repeat(CALLS) {
                delay(random.nextLong(PAUSE))
                val permits = random.nextInt(1, burst.toInt() + 1)
                try {
                    when (random.nextInt(4)) {
                        0 -> if (!limiter.tryAcquire(permits, random.nextLong(1, PAUSE).milliseconds)) return@repeat
                        1 -> if (!limiter.tryAcquire(permits)) return@repeat
                        else -> limiter.acquire(permits)
                    }
                    grants.add(scheduler.currentTime, permits)
                } catch (e: IllegalStateException) {
                    if (e !is StoreUnavailableException && e !is OutcomeUnknownException) throw e
                }
            }
        }

        fun runFor(time: Duration) {
            val end = scheduler.currentTime + time.inWholeMilliseconds
            while (scheduler.currentTime < end && jobs.any { it.isActive }) {
                scheduler.advanceTimeBy(100)
                scheduler.runCurrent()
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
            assertEquals(0, jobs.count { it.isActive }, "calls that never end: ${backing.text("sim:rateLimiter:l")}")
            grants.check(rate, burst)
            clusters.forEach { it.close() }
            world.cancel()
            scheduler.advanceUntilIdle()
        }
    }

    private fun simulate(seeds: Int, faults: (Random) -> FaultyStore.Faults, during: Run.() -> Unit) {
        val unexpected = ArrayList<Throwable>()
        val report = { e: Throwable -> if (!isOutage(e)) unexpected += e }
        reportingTo(report) {
            for (seed in 0L until seeds) {
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
        unexpected.firstOrNull()?.let { throw AssertionError("an unexpected exception", it) }
    }

    private fun isOutage(e: Throwable) = e.cause is StoreUnavailableException || e.cause is OutcomeUnknownException

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
            repeat(3) {
                runFor(random.nextLong(1, 20).seconds)
                val i = random.nextInt(NODES)
                when (random.nextInt(5)) {
                    0 -> nodes[i].stop()
                    1 -> nodes.forEach { if (it.isStopped) it.goOn() }
                    2 -> stores[i].isCutOff = true
                    3 -> stores.forEach { it.isCutOff = false }
                    else -> nodes[i].wallOffset = java.time.Duration.ofSeconds(random.nextLong(-100, 100))
                }
            }
        }

    // The check is worth something: this breaks a promise on which the rules rely.

    @Test
    fun storeThatIgnoresVersions_isFound() {
        assertThrows(AssertionError::class.java) {
            simulate(SEEDS, { FaultyStore.Faults(slow = 0.2) }) {
                backing.ignoresVersions = true
                runFor(60.seconds)
            }
        }
    }

    private companion object {
        const val NODES = 3
        const val CALLERS = 3
        const val CALLS = 8
        const val PAUSE = 3_000L
        const val SEEDS = 20
        val LEASE = 9.seconds
        val START: java.time.Instant = java.time.Instant.parse("2026-01-01T00:00:00Z")
    }
}
