package baton.sync.semaphore.contract

import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Callers
import kotlin.random.Random
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** First come, first served, by weight; from hand to hand. */
interface SemaphoreOrder : SemaphoreFixture {
    @Test
    fun acquire_severalWait_areLetInInTheOrderTheyCame() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            for (name in listOf("a", "b", "c", "d")) callers.call(name) { semaphore.acquire() }
            for (let in 1..4) {
                semaphore.release()
                runCurrent()
                assertEquals(listOf("a", "b", "c", "d").take(let), callers.served)
                assertState(semaphore, available = 0, waiting = 4 - let)
            }
        }

    @Test
    fun acquire_heavyHeadWaits_smallOneDoesNotOvertake() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 2)
            callers.call("heavy") { semaphore.acquire(2) }
            val small = callers.call("small") { semaphore.acquire() }
            assertTrue(small.isWaiting)
            assertState(semaphore, available = 1, waiting = 2)
            semaphore.release()
            runCurrent()
            assertEquals(listOf("heavy"), callers.served)
            semaphore.release()
            runCurrent()
            assertEquals(listOf("heavy", "small"), callers.served)
        }

    @Test
    fun tryAcquire_heavyHeadWaits_doesNotOvertake() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 3)
            val heavy = callers.call { semaphore.acquire(4) }
            assertFalse(semaphore.tryAcquire())
            assertFalse(semaphore.tryAcquire(2))
            assertState(semaphore, available = 2, waiting = 1)
            semaphore.release(2)
            runCurrent()
            assertTrue(heavy.isServed)
        }

    @Test
    fun availablePermits_heavyHeadWaits_areThoseThatNobodyHolds() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(5, acquired = 5)
            callers.call { semaphore.acquire(4) }
            for (free in 1..3) {
                semaphore.release()
                assertState(semaphore, available = free, waiting = 1)
            }
            semaphore.release()
            assertState(semaphore, available = 0, waiting = 0)
        }

    @Test
    fun acquire_permitsComeOneByOne_takesAllOrNone() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 3)
            val heavy = callers.call { semaphore.acquire(3) }
            repeat(2) {
                semaphore.release()
                runCurrent()
                assertTrue(heavy.isWaiting)
            }
            heavy.cancel()
            runCurrent()
            assertState(semaphore, available = 2)
        }

    @Test
    fun release_several_admitsExactlyThePrefixThatFits() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(6, acquired = 6)
            for ((name, n) in listOf("two" to 2, "one" to 1, "three" to 3, "small" to 1)) {
                callers.call(name) { semaphore.acquire(n) }
            }
            semaphore.release(4)
            runCurrent()
            assertEquals(listOf("two", "one"), callers.served)
            assertState(semaphore, available = 1, waiting = 2)
            semaphore.release(2)
            runCurrent()
            assertEquals(listOf("two", "one", "three"), callers.served)
            assertState(semaphore, available = 0, waiting = 1)
        }

    @Test
    fun release_moreThanWaitersNeed_leavesTheRestAvailable() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(6, acquired = 6)
            callers.call("a") { semaphore.acquire(2) }
            callers.call("b") { semaphore.acquire() }
            semaphore.release(6)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
            assertState(semaphore, available = 3)
        }

    @Test
    fun release_oneOfTwoWaiters_leavesTheOtherWaiting() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2)
            callers.call("a") { semaphore.acquire() }
            val other = callers.call("b") { semaphore.acquire() }
            semaphore.release()
            runCurrent()
            assertEquals(listOf("a"), callers.served)
            assertTrue(other.isWaiting)
        }

    @Test
    fun release_twiceInARow_wakesTwo() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2)
            for (name in listOf("a", "b", "c")) callers.call(name) { semaphore.acquire() }
            semaphore.release()
            semaphore.release()
            assertState(semaphore, available = 0, waiting = 1)
            runCurrent()
            assertEquals(listOf("a", "b"), callers.served)
        }

    @Test
    fun tryAcquire_waiterNotRunYet_permitIsAlreadyTheWaiters() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            val waiter = callers.call { semaphore.acquire() }
            semaphore.release()
            assertState(semaphore, available = 0, waiting = 0)
            assertFalse(semaphore.tryAcquire())
            runCurrent()
            assertTrue(waiter.isServed)
        }

    @Test
    fun acquire_waiterNotRunYet_newcomerQueuesBehindIt() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            callers.call("first") { semaphore.acquire() }
            semaphore.release()
            val newcomer = callers.callAtOnce("newcomer") { semaphore.acquire() }
            assertState(semaphore, available = 0, waiting = 1)
            runCurrent()
            assertEquals(listOf("first"), callers.served)
            assertTrue(newcomer.isWaiting)
        }

    @Test
    fun acquire_byTheReleaserAgain_goesToTheEndOfTheQueue() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1)
            callers.call("a") { semaphore.acquire() }
            callers.call("b") { semaphore.acquire() }
            semaphore.release()
            callers.callAtOnce("again") { semaphore.acquire() }
            repeat(2) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("a", "b", "again"), callers.served)
        }

    @Test
    fun waiting_throughAWholeLife_isExact() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(4)
            assertState(semaphore, available = 4)
            semaphore.acquire(3)
            assertState(semaphore, available = 1)
            val heavy = callers.call("heavy") { semaphore.acquire(4) }
            callers.call("small") { semaphore.acquire() }
            assertState(semaphore, available = 1, waiting = 2)
            semaphore.release(3)
            assertState(semaphore, available = 0, waiting = 1)
            runCurrent()
            assertTrue(heavy.isServed)
            semaphore.release(4)
            runCurrent()
            assertState(semaphore, available = 3)
        }

    @Test
    fun acquire_asMuchAsThereIs_waitsForEverybodyElse() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 1)
            val all = callers.call { semaphore.acquire(3) }
            assertTrue(all.isWaiting)
            semaphore.release()
            runCurrent()
            assertTrue(all.isServed)
            assertState(semaphore, available = 0)
        }

    @Test
    fun acquire_queueRunsEmpty_newcomersDoNotWaitAgain() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2)
            repeat(3) { callers.call { semaphore.acquire() } }
            repeat(5) {
                semaphore.release()
                runCurrent()
            }
            assertState(semaphore, available = 2)
            assertTrue(semaphore.tryAcquire(2))
            semaphore.release(2)
            assertTrue(callers.callAtOnce { semaphore.acquire(2) }.isServed)
        }

    @Test
    fun acquire_randomWeights_areServedInOrderAndNothingIsLost() =
        runTest {
            repeat(200) { round ->
                val random = Random(round)
                val callers = Callers(this)
                val permits = random.nextInt(1, 6)
                val semaphore = semaphore(permits, acquired = permits)
                val weights = List(20) { random.nextInt(1, permits + 1) }
                weights.forEachIndexed { i, weight -> callers.call("$i") { semaphore.acquire(weight) } }
                var held = permits
                while (held > 0) {
                    val n = random.nextInt(1, held + 1)
                    val before = callers.served.size
                    semaphore.release(n)
                    runCurrent()
                    held -= n
                    for (name in callers.served.drop(before)) held += weights[name.toInt()]
                    assertTrue(held <= permits)
                    assertEquals(permits - held, semaphore.available)
                }
                assertEquals(weights.indices.map { "$it" }, callers.served)
                assertState(semaphore, available = permits)
            }
        }
}
