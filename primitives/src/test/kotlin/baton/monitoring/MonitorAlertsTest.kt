package baton.monitoring

import baton.monitoring.Alert.Kind.BREAKER_OPEN
import baton.monitoring.Alert.Kind.HEAP
import baton.monitoring.Alert.Kind.LONGEST_WAIT
import baton.monitoring.Alert.Kind.RETRY_STORM
import baton.monitoring.Alert.Kind.UTILISATION
import baton.parallel.MemoryGate
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.RetryBudget
import baton.resilience.RetryPolicy
import baton.resilience.retry
import baton.sync.Barrier
import baton.sync.Latch
import baton.sync.Semaphore
import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Alerts at exact instants of virtual time. */
class MonitorAlertsTest : WatchedSources() {
    private val alerts = mutableListOf<String>()
    private var inUse = 0L
    private var wait = Duration.ZERO

    private fun TestScope.monitor(rules: AlertRules = AlertRules(), every: Duration = 500.milliseconds): Monitor =
        Monitor(backgroundScope, every, rules) { alerts += "${currentTime} $it" }

    private fun TestScope.watchedPool(rules: AlertRules = AlertRules(), every: Duration = 500.milliseconds): Monitor =
        monitor(rules, every).also { it.watch("pool") { Usage(inUse, capacity = 10, longestWait = wait) } }

    /** The instant and the first words of each alert. */
    private fun seen() = alerts.map { it.substringBefore(":") }

    @Test
    fun utilisation_thatLasts_isRaisedOnceAndClearedOnce() {
        runTest {
            val monitor = watchedPool()
            delay(1200.milliseconds)
            inUse = 7 // seen at 1500
            delay(5299.milliseconds)
            assertEquals(emptyList<String>(), seen())
            delay(2.milliseconds)
            assertEquals(listOf("6500 UTILISATION of pool raised"), seen())
            assertEquals(listOf(UTILISATION), monitor.active.map { it.kind })
            delay(60.seconds) // now at 66501
            inUse = 6 // not below the lower bound
            delay(60.seconds) // now at 126501
            inUse = 5 // seen at 127000
            delay(5499.milliseconds)
            assertEquals(1, alerts.size)
            delay(2.milliseconds)
            assertEquals("132000 UTILISATION of pool cleared", seen().last())
            assertEquals(emptyList<Alert>(), monitor.active)
            delay(60.seconds)
            assertEquals(2, alerts.size)
        }
    }

    @Test
    fun longestRun_overTheBound_isRaisedAndCleared() {
        runTest {
            var run = Duration.ZERO
            val monitor = monitor(AlertRules(after = Duration.ZERO, longestRun = 10.seconds))
            monitor.watch("checks") { Usage(1, 10, longestRun = run) }
            run = 9_999.milliseconds
            delay(600.milliseconds)
            assertEquals(emptyList<String>(), seen())
            run = 10.seconds
            delay(500.milliseconds)
            run = Duration.ZERO
            delay(500.milliseconds)
            assertEquals(listOf("1000 LONGEST_RUN of checks raised", "1500 LONGEST_RUN of checks cleared"), seen())
        }
    }

    @Test
    fun alert_raisedAndCleared_saysWhatWasSeen() {
        runTest {
            val found = mutableListOf<Alert>()
            val monitor = Monitor(backgroundScope, rules = AlertRules(after = Duration.ZERO)) { found += it }
            monitor.watch("pool") { Usage(inUse, 10, waiting = 3) }
            inUse = 9
            delay(1.milliseconds)
            inUse = 2
            delay(500.milliseconds)
            val (raised, cleared) = found
            assertEquals(
                listOf(0.9, 0.70, true, 9L),
                listOf(raised.value, raised.bound, raised.raised, raised.usage?.inUse),
            )
            assertEquals(
                listOf(0.2, 0.60, false, 2L),
                listOf(cleared.value, cleared.bound, cleared.raised, cleared.usage?.inUse),
            )
            assertEquals("pool", raised.source)
        }
    }

    @Test
    fun utilisation_withABreak_countsAnew() {
        runTest {
            watchedPool()
            inUse = 10 // seen at 0
            delay(4600.milliseconds)
            inUse = 6 // seen at 5000
            delay(500.milliseconds)
            inUse = 10 // seen at 5500
            delay(5.seconds)
            assertEquals(emptyList<String>(), seen())
            delay(1.seconds)
            assertEquals(listOf("10500 UTILISATION of pool raised"), seen())
        }
    }

    @Test
    fun utilisation_thatRisesAgainBeforeItIsCleared_staysRaised() {
        runTest {
            watchedPool()
            inUse = 10
            delay(6.seconds)
            inUse = 0
            delay(4.seconds)
            inUse = 10
            delay(1.seconds)
            inUse = 0 // seen at 11000 or, after this delay, at 11500
            delay(1.milliseconds)
            assertEquals(listOf("5000 UTILISATION of pool raised"), seen())
            delay(10.seconds)
            assertEquals(2, alerts.size)
        }
    }

    @Test
    fun utilisation_betweenTwoLooks_isNotSeen() {
        runTest {
            watchedPool(AlertRules(after = Duration.ZERO))
            delay(100.milliseconds)
            inUse = 10
            delay(300.milliseconds)
            inUse = 0
            delay(10.seconds)
            assertEquals(emptyList<String>(), seen())
        }
    }

    @Test
    fun alert_afterNoTime_isRaisedAtTheFirstLook() {
        runTest {
            watchedPool(AlertRules(after = Duration.ZERO))
            inUse = 7
            delay(1.milliseconds)
            inUse = 5
            delay(500.milliseconds)
            assertEquals(listOf("0 UTILISATION of pool raised", "500 UTILISATION of pool cleared"), seen())
        }
    }

    @Test
    fun alert_afterATimeThatIsNoMultiple_isRaisedAtTheNextLook() {
        runTest {
            watchedPool(AlertRules(after = 1100.milliseconds))
            inUse = 7
            delay(3.seconds)
            assertEquals(listOf("1500 UTILISATION of pool raised"), seen())
        }
    }

    @Test
    fun look_everyNanosecond_isOneAMillisecond() {
        runTest {
            watchedPool(AlertRules(after = 10.milliseconds), every = 1.nanoseconds)
            inUse = 7
            delay(30.milliseconds)
            assertEquals(listOf("10 UTILISATION of pool raised"), seen())
        }
    }

    @Test
    fun bound_ofOne_needsAllInUse() {
        runTest {
            watchedPool(AlertRules(utilisation = 1.0, clearBelow = 1.0, after = Duration.ZERO))
            inUse = 9
            delay(1.seconds)
            inUse = 10
            delay(1.seconds)
            inUse = 9
            delay(1.seconds)
            assertEquals(listOf("1000 UTILISATION of pool raised", "2000 UTILISATION of pool cleared"), seen())
        }
    }

    @Test
    fun longestWait_thatLasts_isRaisedAndCleared() {
        runTest {
            watchedPool()
            wait = 30.seconds
            delay(6.seconds) // raised at 5000
            wait = 29.seconds // seen at 6500 or, at the same instant, at 6000
            delay(6.seconds)
            assertEquals("5000 LONGEST_WAIT of pool raised", seen().first())
            assertEquals(listOf(true, false), alerts.map { "raised" in it })
            assertEquals(true, alerts.first().contains(": 30.0, bound = 30.0"))
        }
    }

    @Test
    fun longestWait_ofAPrimitive_isThatOfVirtualTime() {
        runTest {
            val semaphore = Semaphore(1, acquired = 1, name = "uplink")
            val waiter = launch(CoroutineName("import")) { semaphore.acquire() }
            val monitor = monitor()
            monitor.watchKept(semaphore)
            delay(34_999.milliseconds) // first seen at 0, so at 30 s it has waited for 30 s
            assertEquals(listOf("5000 UTILISATION of uplink raised"), seen())
            delay(2.milliseconds)
            assertEquals("35000 LONGEST_WAIT of uplink raised", seen().last())
            val usage = monitor.snapshot().getValue("uplink")
            assertEquals(35.seconds, usage.longestWait)
            assertEquals(listOf("import"), usage.waiters)
            semaphore.release()
            waiter.join()
            delay(6.seconds)
            assertEquals(Duration.ZERO, monitor.snapshot().getValue("uplink").longestWait)
            assertEquals(3, alerts.size)
        }
    }

    @Test
    fun utilisation_ofALatchOrABarrier_raisesNoAlertButByRulesOfItsOwn() {
        runTest {
            val latch = Latch(1, name = "ready")
            val barrier = Barrier(2, name = "phase")
            val party = launch { barrier.arrive() }
            val monitor = monitor()
            monitor.watchKept(latch)
            monitor.watchKept(barrier)
            delay(20.seconds)
            assertEquals(emptyList<String>(), seen())
            monitor.watch(latch, name = "strict", rules = AlertRules(after = 1.seconds))
            delay(16.seconds) // the party has waited for 30 seconds at 30000
            assertEquals(listOf("21000 UTILISATION of strict raised", "35000 LONGEST_WAIT of phase raised"), seen())
            party.cancel()
        }
    }

    @Test
    fun breaker_whileItRefusesCalls_raisesItsAlert() {
        runTest {
            val breaker = CircuitBreaker(name = "store")
            val monitor = monitor()
            monitor.watchKept(breaker)
            delay(100.milliseconds)
            breaker.trip() // seen at 500
            delay(6.seconds)
            assertEquals(listOf(BREAKER_OPEN), monitor.active.map { it.kind })
            assertEquals(listOf("5500 BREAKER_OPEN of store raised"), seen())
            breaker.reset() // seen at 6500
            delay(6.seconds)
            assertEquals("11500 BREAKER_OPEN of store cleared", seen().last())
        }
    }

    @Test
    fun budget_thatIsEmpty_raisesARetryStorm() {
        runTest {
            val budget = RetryBudget(ratio = 1.0, burst = 2)
            val policy = RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(Duration.ZERO), budget = budget)
            repeat(2) { runCatching { retry<Unit>(policy) { throw IOException("down") } } }
            val monitor = monitor(AlertRules(after = 1.seconds))
            monitor.watchKept(budget, name = "retries")
            delay(1100.milliseconds)
            assertEquals(listOf(RETRY_STORM), monitor.active.map { it.kind })
            assertEquals(listOf("1000 RETRY_STORM of retries raised"), seen())
            retry(policy) {}
            delay(2.seconds)
            assertEquals("2500 RETRY_STORM of retries cleared", seen().last())
        }
    }

    @Test
    fun budget_withoutRetries_raisesNothing() {
        runTest {
            monitor(AlertRules(after = Duration.ZERO)).watchKept(RetryBudget(burst = 0))
            delay(10.seconds)
            assertEquals(emptyList<String>(), seen())
        }
    }

    @Test
    fun gate_aboveItsOwnBounds_raisesAHeapAlert() {
        runTest {
            var used = 79L
            val gate = MemoryGate(high = 0.8, low = 0.5, maxBytes = 100, usage = { used })
            val monitor = monitor(AlertRules(utilisation = 0.1, clearBelow = 0.1, after = Duration.ZERO))
            monitor.watchKept(gate, name = "heap")
            delay(1.milliseconds)
            assertEquals(emptyList<String>(), seen())
            used = 81
            delay(500.milliseconds)
            used = 50 // not below the lower bound
            delay(500.milliseconds)
            assertEquals(listOf(HEAP), monitor.active.map { it.kind })
            used = 49
            delay(500.milliseconds)
            assertEquals(listOf("500 HEAP of heap raised", "1500 HEAP of heap cleared"), seen())
        }
    }

    @Test
    fun rulesOfAWatch_replaceThoseOfTheMonitor() {
        runTest {
            val monitor = monitor()
            monitor.watch("own", AlertRules(utilisation = 0.2, clearBelow = 0.1, after = Duration.ZERO)) {
                Usage(2, 10)
            }
            monitor.watch("shared") { Usage(2, 10) }
            delay(10.seconds)
            assertEquals(listOf("0 UTILISATION of own raised"), seen())
        }
    }

    @Test
    fun sourceThatChangesItsKind_countsEachAlone() {
        runTest {
            val breaker = CircuitBreaker()
            breaker.trip()
            monitor(AlertRules(longestWait = Duration.INFINITE)).watch("either") {
                if (currentTime < 2000) breaker.usage() else Usage(10, 10)
            }
            delay(20.seconds)
            assertEquals(listOf("7000 UTILISATION of either raised"), seen())
            assertEquals(0, alerts.count { LONGEST_WAIT.name in it })
        }
    }

    @Test
    fun alertOfAKindThatTheSourceGivesUp_isCleared() {
        runTest {
            val breaker = CircuitBreaker().also { it.trip() }
            monitor(AlertRules(after = Duration.ZERO)).watch("either") {
                if (currentTime < 2000) breaker.usage() else Usage(1, 10)
            }
            delay(3.seconds)
            assertEquals(listOf("0 BREAKER_OPEN of either raised", "2000 BREAKER_OPEN of either cleared"), seen())
        }
    }
}
