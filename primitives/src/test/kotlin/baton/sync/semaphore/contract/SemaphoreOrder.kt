package baton.sync.semaphore.contract

import baton.sync.assertState
import baton.waiting.Callers
import kotlin.random.Random
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** First come, first served, by weight; from hand to hand. SemaphoreModelSpec tries the sequences of all of it. */
interface SemaphoreOrder : SemaphoreFixture {
    @Test
    fun acquire_heavyHeadWaits_noCallerOvertakes() =
        scene(5, acquired = 3) {
            acquire("heavy" to 4, "small" to 1)
            assertFalse(semaphore.tryAcquire())
            assertFalse(semaphore.tryAcquire(2))
            assert("", available = 2, waiting = 2)
            release()
            assert("", available = 3, waiting = 2)
            release()
            assert("heavy", available = 0, waiting = 1)
            release()
            assert("heavy small", available = 0)
        }

    @Test
    fun release_several_admitsExactlyThePrefixThatFits() =
        scene(6, acquired = 6) {
            acquire("two" to 2, "one" to 1, "three" to 3, "small" to 1)
            release(4)
            assert("two one", available = 1, waiting = 2)
            release(2)
            assert("two one three", available = 0, waiting = 1)
            release(6)
            assert("two one three small", available = 5)
        }

    @Test
    fun release_twiceInARow_wakesTwo() =
        scene(2, acquired = 2) {
            acquire("a" to 1, "b" to 1, "c" to 1)
            release()
            release()
            assertState(semaphore, available = 0, waiting = 1)
            assert("a b", available = 0, waiting = 1)
        }

    @Test
    fun tryAcquire_waiterNotRunYet_permitIsAlreadyTheWaiters() =
        scene(1, acquired = 1) {
            acquire("waiter" to 1)
            release()
            assertState(semaphore, available = 0, waiting = 0)
            assertFalse(semaphore.tryAcquire())
            assert("waiter", available = 0)
        }

    @Test
    fun acquire_byTheReleaserAgain_goesToTheEndOfTheQueue() =
        scene(1, acquired = 1) {
            acquire("a" to 1, "b" to 1)
            release()
            callers.callAtOnce("again") { semaphore.acquire() }
            releaseOneByOne(2)
            assert("a b again", available = 0)
        }

    @Test
    fun cancel_heavyHead_letsInTheSmallOnesThatFit() =
        scene(4, acquired = 2) {
            acquire("heavy" to 3, "a" to 1, "b" to 1, "c" to 1)
            cancel("heavy")
            assertState(semaphore, available = 0, waiting = 1)
            assert("a b", available = 0, waiting = 1)
        }

    @Test
    fun acquire_randomWeights_areServedInOrderAndNothingIsLost() = runTest {
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
