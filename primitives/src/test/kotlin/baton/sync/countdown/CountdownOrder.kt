package baton.sync.countdown

import baton.sync.assertContains
import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** No waiter is released before zero, and all are at zero; first come, first woken. */
interface CountdownOrder : CountdownFixture {
    @Test
    fun down_fromAnyCount_countsToZeroWhereAwaitReturnsAtOnce() = runTest {
        for (count in 0..3) {
            val countdown = countdown(count)
            for (left in count downTo 1) {
                assertState(countdown, count = left)
                countdown.down()
            }
            repeat(2) { assertTrue(Callers(this).callAtOnce { countdown.await() }.isServed) }
            assertState(countdown, count = 0)
        }
    }

    @Test
    fun create_greatestCount_countsDownFromThere() = runTest {
        val countdown = countdown(Int.MAX_VALUE)
        assertState(countdown, count = Int.MAX_VALUE)
        repeat(2) { countdown.down() }
        val waiter = Callers(this).call { countdown.await() }
        assertTrue(waiter.isWaiting)
        assertState(countdown, count = Int.MAX_VALUE - 2, waiting = 1)
    }

    @Test
    fun await_aboveZero_waitsForTheLast() = runTest {
        val countdown = countdown(3)
        val waiter = Callers(this).call { countdown.await() }
        for (left in 2 downTo 1) {
            countdown.down()
            runCurrent()
            assertTrue(waiter.isWaiting)
            assertState(countdown, count = left, waiting = 1)
        }
        countdown.down()
        runCurrent()
        assertTrue(waiter.isServed)
        assertState(countdown, count = 0)
    }

    @Test
    fun await_several_areLetInTogetherInTheOrderTheyCame() = runTest {
        val callers = Callers(this)
        val countdown = countdown(2)
        for (name in listOf("a", "b")) callers.call(name) { countdown.await() }
        countdown.down()
        for (name in listOf("c", "d", "e")) callers.call(name) { countdown.await() }
        assertState(countdown, count = 1, waiting = 5)
        countdown.down()
        assertState(countdown, count = 0, waiting = 0)
        runCurrent()
        assertEquals(listOf("a", "b", "c", "d", "e"), callers.served)
    }

    @Test
    fun await_byOneJustLetIn_doesNotSuspend() = runTest {
        val countdown = countdown(1)
        val waiter =
            Callers(this).call {
                countdown.await()
                check(Callers(this).callAtOnce { countdown.await() }.isServed)
            }
        countdown.down()
        runCurrent()
        assertTrue(waiter.isServed)
    }

    @Test
    fun down_byCallersThatThenWait_letsInAllOfThem() = runTest {
        val callers = Callers(this)
        val countdown = countdown(3)
        for (name in listOf("a", "b", "c")) {
            callers.call(name) {
                countdown.down()
                countdown.await()
            }
        }
        assertEquals(setOf("a", "b", "c"), callers.served.toSet())
        assertState(countdown, count = 0)
    }

    @Test
    fun toString_inEveryState_showsIt() = runTest {
        val countdown = countdown(2, name = "start")
        assertContains(countdown.toString(), "'start'", "count = 2", "waiting = 0")
        Callers(this).call { countdown.await() }
        countdown.down()
        assertContains(countdown.toString(), "'start'", "count = 1", "waiting = 1")
        countdown.down()
        assertContains(countdown.toString(), "'start'")
        assertContains(countdown(0).toString(), countdown(1).toString().substringBefore(" ("))
    }
}
