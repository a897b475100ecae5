package baton.sync.semaphore.contract

import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.waiting.Caller
import baton.waiting.Callers
import kotlin.random.Random
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [WaitOrder.UNFAIR]: the promises that hold although a newcomer may overtake. */
interface SemaphoreUnfairness : SemaphoreFixture {
    @Test
    fun unfair_nobodyOvertakes_isFirstComeFirstServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(2, acquired = 2, order = WaitOrder.UNFAIR)
            for (name in listOf("a", "b", "c")) callers.call(name) { semaphore.acquire() }
            repeat(3) {
                semaphore.release()
                runCurrent()
            }
            assertEquals(listOf("a", "b", "c"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun unfair_severalReleasedInOneStep_admitsThePrefixThatFits() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(6, acquired = 6, order = WaitOrder.UNFAIR)
            for ((name, n) in listOf("two" to 2, "one" to 1, "three" to 3)) {
                callers.call(name) { semaphore.acquire(n) }
            }
            semaphore.release(4)
            runCurrent()
            assertEquals(listOf("two", "one"), callers.served)
            assertState(semaphore, available = 1, waiting = 1)
        }

    @Test
    fun unfair_newcomersKeepComing_overtakeTheHeadAtMostAsOftenAsPromised() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            for (name in listOf("first", "second")) callers.call(name) { semaphore.acquire() }
            var overtakes = 0
            var most = 0
            repeat(1000) {
                if (callers.served.size == 2) return@repeat
                val before = callers.served.size
                semaphore.release()
                if (semaphore.tryAcquire()) overtakes++
                runCurrent()
                most = maxOf(most, overtakes)
                if (callers.served.size > before) overtakes = 0
            }
            assertEquals(listOf("first", "second"), callers.served)
            assertTrue(most <= WaitOrder.MAX_OVERTAKES) { "$most" }
        }

    @Test
    fun unfair_headIsCancelledAfterRelease_nextIsServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            val head = callers.call("head") { semaphore.acquire() }
            callers.call("next") { semaphore.acquire() }
            semaphore.release()
            head.cancel()
            runCurrent()
            assertTrue(head.isCancelled)
            assertEquals(listOf("next"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun unfair_onlyWaiterIsCancelledAfterRelease_permitIsAvailable() =
        runTest {
            val semaphore = semaphore(2, acquired = 2, order = WaitOrder.UNFAIR)
            val waiter = Callers(this).call { semaphore.acquire(2) }
            semaphore.release(2)
            waiter.cancel()
            runCurrent()
            assertTrue(waiter.isCancelled)
            assertState(semaphore, available = 2)
            assertTrue(semaphore.tryAcquire(2))
        }

    @Test
    fun unfair_closedAfterReleaseBeforeTheHeadRan_nobodyHangs() =
        runTest {
            val semaphore = semaphore(1, acquired = 1, order = WaitOrder.UNFAIR)
            val waiters = List(2) { Callers(this).call { semaphore.acquire() } }
            semaphore.release()
            semaphore.close()
            runCurrent()
            assertInstanceOf(SemaphoreClosedException::class.java, waiters[1].failure)
            assertTrue(waiters[0].isServed || waiters[0].failure is SemaphoreClosedException)
            assertState(semaphore, available = if (waiters[0].isServed) 0 else 1)
        }

    @Test
    fun unfair_headBecomesTooHeavyAfterRelease_nextIsServed() =
        runTest {
            val callers = Callers(this)
            val semaphore = semaphore(3, acquired = 3, order = WaitOrder.UNFAIR)
            val heavy = callers.call("heavy") { semaphore.acquire(3) }
            callers.call("small") { semaphore.acquire() }
            semaphore.release(2)
            semaphore.resize(2)
            runCurrent()
            assertInstanceOf(IllegalArgumentException::class.java, heavy.failure)
            assertEquals(listOf("small"), callers.served)
            assertState(semaphore, available = 0)
        }

    @Test
    fun unfair_randomRequests_leaveNobodyWaitingBesideAFreePermit() =
        runTest {
            repeat(300) { round ->
                val random = Random(round)
                val callers = Callers(this)
                val permits = random.nextInt(1, 5)
                val semaphore = semaphore(permits, order = WaitOrder.UNFAIR)
                val weights = List(25) { random.nextInt(1, permits + 1) }
                val all = weights.mapIndexed { i, n -> i to n }.toMutableList()
                val asked = mutableListOf<Caller>()
                var tried = 0
                fun held() = tried + callers.served.sumOf { weights[it.toInt()] }
                var released = 0
                repeat(120) {
                    when (random.nextInt(5)) {
                        0, 1 -> {
                            val (i, n) = all.removeFirstOrNull() ?: return@repeat
                            asked += callers.call("$i") { semaphore.acquire(n) }
                        }
                        2 -> if (held() > released) semaphore.release().also { released++ }
                        3 -> if (semaphore.tryAcquire()) tried++
                        4 -> if (random.nextInt(3) == 0) asked.randomOrNull(random)?.cancel()
                    }
                    if (random.nextBoolean()) runCurrent()
                }
                runCurrent()
                assertEquals(permits - (held() - released), semaphore.available)
                while (held() > released) {
                    semaphore.release()
                    released++
                    runCurrent()
                }
                assertTrue(asked.none { it.isWaiting }) { "round $round: $asked" }
                assertState(semaphore, available = permits)
            }
        }
}
