package baton.test.distributed

import baton.distributed.Lease
import baton.distributed.LeaseLostException
import baton.test.SimulatedNode
import baton.test.SimulationScope
import baton.test.simulate
import java.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Promises of docs/distributed.md that have bounds in time, on a few seeds each. The lease is ten seconds. */
class PromisesTest {
    private fun promise(body: SimulationScope.() -> Unit) = simulate(SEEDS, body = body)

    private val SimulationScope.millis
        get() = nanos / 1_000_000

    private suspend fun SimulatedNode.lock(keep: Boolean = true): Lease = cluster.mutex("m", keep).lock()

    @Test
    fun machineWhoseWallClockIsAhead_holdsNothing_untilItsNextHeartbeat() = promise {
        node {
            val lease = lock()
            lease.check()
            machine.wallOffset = Duration.ofHours(1)
            assertFalse(lease.isHeld)
            assertThrows(LeaseLostException::class.java) { lease.check() }
            delay(4.seconds)
            lease.check()
            machine.wallOffset = Duration.ofHours(-1)
            lease.check()
            delay(60.seconds)
            lease.check()
        }
    }

    @Test
    fun machineThatGoesOnAfterItsLease_holdsNothing_andIsTold() = promise {
        val told = CompletableDeferred<Long>()
        val stopped = node {
            lock().onLost { told.complete(millis) }
            told.await()
        }
        node {
            delay(3.seconds)
            stopped.stop()
            val start = millis
            lock()
            assertTrue(millis - start in 6_000L..13_400L, "granted after ${millis - start} ms")
            delay(20.seconds)
            assertFalse(told.isCompleted)
            stopped.goOn()
            val end = millis
            assertEquals(end, told.await())
        }
    }

    @Test
    fun members_areServedInTheOrderInWhichTheyCame() = promise {
        val order = ArrayList<Int>()
        repeat(4) { i ->
            node {
                delay(2.seconds * (i + 1))
                cluster.mutex("m").withLock {
                    order += i
                    delay(20.seconds)
                }
            }
        }
        afterwards { assertEquals(listOf(0, 1, 2, 3), order) }
    }

    @Test
    fun waiterThatDies_holdsUpTheOthersForALeaseAndAThird() = promise {
        node { lock().use { delay(5.seconds) } }
        val waiter =
            node(isEndless = true) {
                delay(2.seconds)
                lock()
            }
        node {
            delay(3.seconds)
            launch {
                delay(1.seconds)
                waiter.machine.kill()
            }
            lock()
            assertTrue(millis < 5_000 + 1_000 + 13_400, "granted at $millis ms")
        }
    }

    @Test
    fun deadHoldersPermit_isFreeALeaseAndAThirdAfterItsDeath() = promise {
        val holder = node(isEndless = true) { lock().awaitLost() }
        node {
            delay(2.seconds)
            launch {
                delay(20.seconds)
                holder.machine.kill()
            }
            val start = millis
            lock()
            assertTrue(millis - start in 26_000L..33_400L, "granted after ${millis - start} ms")
        }
    }

    @Test
    fun permitThatIsKept_goesBackByTheSecondHeartbeat_soThatAnIdleMemberMayDie() = promise {
        val idle =
            node(isEndless = true) {
                lock().release()
                delay(100.seconds)
            }
        node {
            delay(9.seconds)
            idle.machine.kill()
            val start = millis
            lock()
            assertTrue(millis - start < 500, "granted after ${millis - start} ms")
        }
    }

    @Test
    fun bellThatIsNotHeard_costsAThirdOfALease() = promise {
        node {
            store.bellLost = 1.0
            lock(keep = false).use { delay(5.seconds) }
        }
        node {
            store.bellLost = 1.0
            delay(2.seconds)
            lock(keep = false)
            assertTrue(millis < 6_000 + 3_500, "granted at $millis ms")
        }
    }

    @Test
    fun storeThatComesBackEmpty_tellsAllHolders_grantsNothingForALease_andItsTokensGrow() = promise {
        val lost = ArrayList<Long>()
        val tokens = ArrayList<Long>()
        repeat(2) { i ->
            node {
                val lease = cluster.mutex("held $i").lock()
                lease.onLost { lost += millis }
                tokens += lease.fencingToken
                lease.awaitLost()
            }
        }
        node {
            delay(5.seconds)
            this@promise.store.loseAll()
            val start = millis
            repeat(2) { i ->
                val lease = cluster.mutex("held $i").lock()
                assertTrue(lease.fencingToken > tokens.max(), "${lease.fencingToken} after $tokens")
            }
            assertTrue(millis - start >= 10_000, "granted after ${millis - start} ms")
            assertTrue(lost.size == 2 && lost.max() - start < 3_400, "lost at $lost, after $start")
        }
    }

    @Test
    fun nameThatWasNeverUsed_isGrantedAtOnce_alsoAfterALoss() = promise {
        node {
            lock()
            this@promise.store.loseAll()
            delay(30.seconds)
            val start = millis
            cluster.mutex("new").lock()
            assertTrue(millis - start < 500, "granted after ${millis - start} ms")
        }
    }

    @Test
    fun requestWhoseAnswersAreLost_leavesNothingWhenItEnds() = promise {
        node {
            repeat(10) {
                store.answerLost = 0.5
                cluster.mutex("m", keep = false).tryLock(random.nextLong(1, 2_000).milliseconds)?.release()
            }
            store.answerLost = 0.0
            delay(20.seconds)
        }
        afterwards {
            val text = store.current("simulation:mutex:m").map { it.text() }.orElse("")
            assertFalse("\"member\"" in text, text)
        }
    }

    private companion object {
        const val SEEDS = 20
    }
}
