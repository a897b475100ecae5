package baton.test.distributed

import baton.BatonClock
import baton.distributed.CoordinationStore
import baton.distributed.DistributedRateLimiter
import baton.distributed.GrantLog
import baton.distributed.InMemoryStore
import baton.distributed.OutcomeUnknownException
import baton.distributed.StoreUnavailableException
import baton.resilience.Rate
import baton.test.SimulatedFaults
import baton.test.SimulatedNode
import baton.test.SimulationScope
import baton.test.simulate
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Test

/** Nodes that share a limiter while the store, the network and the machines fail, each run from a seed. */
class LimiterSimulationTest {
    private class Work(private val scope: SimulationScope) {
        private val random = scope.random
        private val rate = Rate(random.nextLong(1, 20), 1.seconds)
        private val burst = random.nextLong(1, 12)
        private val grants = GrantLog()

        fun start() {
            repeat(NODES) { scope.node { run() } }
            scope.afterwards { grants.check(rate, burst) }
        }

        private suspend fun SimulatedNode.run() = coroutineScope {
            val limiter = cluster.rateLimiter("l", rate, burst)
            repeat(CALLERS) { launch { repeat(CALLS) { call(limiter) } } }
        }

        private suspend fun call(limiter: DistributedRateLimiter) {
            delay(random.nextLong(PAUSE))
            val permits = random.nextInt(1, burst.toInt() + 1)
            try {
                val isGranted =
                    when (random.nextInt(4)) {
                        0 -> limiter.tryAcquire(permits, random.nextLong(1, PAUSE).milliseconds)
                        1 -> limiter.tryAcquire(permits)
                        else -> true.also { limiter.acquire(permits) }
                    }
                if (isGranted) grants.add(scope.nanos / NANOS_PER_MILLI, permits)
            } catch (_: StoreUnavailableException) {} catch (_: OutcomeUnknownException) {}
        }
    }

    private fun simulated(
        store: (BatonClock) -> CoordinationStore = { InMemoryStore(it) },
        faults: SimulatedFaults.() -> Unit,
    ) =
        simulate(SEEDS, lease = 9.seconds, duration = 2.hours, store = store) {
            Work(this).start()
            faults(faults)
        }

    @Test
    fun callsThatGoWrong_grantNeverTooMuch() = simulated {
        delayCalls()
        refuseCalls(0.1)
        loseRequests(0.1)
        loseAnswers(0.1)
        repeatCalls(0.1)
        loseBells()
    }

    @Test
    fun machinesThatFail_grantNeverTooMuch() = simulated {
        delayCalls(0.05)
        loseRequests()
        loseAnswers()
        driftClocks()
        stop(15.seconds)
        cutOff(20.seconds)
        kill()
        jumpClock()
    }

    // The check is worth something: this breaks a promise on which the rules rely.

    @Test
    fun storeThatIgnoresVersions_isFound() {
        assertThrows(AssertionError::class.java) {
            simulated({ IgnoringVersions(InMemoryStore(it)) }) { delayCalls(0.2) }
        }
    }

    private companion object {
        const val NODES = 3
        const val CALLERS = 3
        const val CALLS = 8
        const val PAUSE = 3_000L
        const val SEEDS = 60
        const val NANOS_PER_MILLI = 1_000_000L
    }
}
