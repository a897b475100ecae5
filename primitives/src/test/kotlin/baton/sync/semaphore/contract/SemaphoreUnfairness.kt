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
    fun unfair_noCallerOvertakes_isFirstComeFirstServed() =
        scene(6, acquired = 6, WaitOrder.UNFAIR) {
            acquire("two" to 2, "one" to 1, "three" to 3)
            release(4)
            assert("two one", available = 1, waiting = 1)
            releaseOneByOne(2)
            assert("two one three", available = 0)
        }

    @Test
    fun unfair_newcomersKeepComing_overtakeTheHeadAtMostAsOftenAsPromised() = runTest {
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
    fun unfair_headIsCancelledAfterRelease_nextIsServedOrThePermitIsAvailable() {
        for (next in listOf("", "next")) {
            scene(2, acquired = 2, WaitOrder.UNFAIR) {
                acquire("head" to 2)
                if (next != "") acquire(next to 2)
                release(2)
                cancel("head")
                assert(next, available = if (next == "") 2 else 0)
                assertTrue(get("head").isCancelled)
                assertEquals(next == "", semaphore.tryAcquire(2))
            }
        }
    }

    @Test
    fun unfair_closedAfterReleaseBeforeTheHeadRan_noWaiterHangs() =
        scene(1, acquired = 1, WaitOrder.UNFAIR) {
            acquire("head" to 1, "next" to 1)
            release()
            semaphore.close()
            scope.testScheduler.runCurrent()
            assertInstanceOf(SemaphoreClosedException::class.java, get("next").failure)
            assertTrue(get("head").isServed || get("head").failure is SemaphoreClosedException)
            assertState(semaphore, available = if (get("head").isServed) 0 else 1)
        }

    @Test
    fun unfair_headBecomesTooHeavyAfterRelease_nextIsServed() =
        scene(3, acquired = 3, WaitOrder.UNFAIR) {
            acquire("heavy" to 3, "small" to 1)
            release(2)
            semaphore.resize(2)
            assert("small", available = 0)
            assertInstanceOf(IllegalArgumentException::class.java, get("heavy").failure)
        }

    @Test
    fun unfair_randomRequests_leaveNoWaiterBesideAFreePermit() = runTest {
        repeat(sequences) { round ->
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
                    0,
                    1 -> {
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
