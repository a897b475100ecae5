package baton.sync.countdown

import baton.sync.assertContains
import baton.sync.assertState
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Parties come and go; every zero releases the callers that wait then, and no later caller. */
interface WaitGroupRounds : CountdownFixture {
    override val factory: WaitGroupFactory

    fun group(count: Int = 0, name: String? = null): WaitGroupFace = factory(count, name)

    @Test
    fun add_oneOrSeveral_countsThem() {
        val group = group()
        assertState(group, count = 0)
        group.add()
        group.add(3)
        assertState(group, count = 4)
        repeat(4) { group.down() }
        assertState(group, count = 0)
    }

    @Test
    fun add_belowOne_isRefusedNamingIt() {
        val group = group(2)
        for (n in listOf(Int.MIN_VALUE, -1, 0)) {
            assertContains(assertThrows<IllegalArgumentException> { group.add(n) }.message, "n = $n", "1")
            assertState(group, count = 2)
        }
    }

    @Test
    fun add_beyondTheGreatestCount_throwsAndChangesNothing() = runTest {
        val group = group(name = "uploads")
        group.add(Int.MAX_VALUE)
        val waiter = Callers(this).call { group.await() }
        for (n in listOf(1, 2, Int.MAX_VALUE)) {
            assertContains(assertThrows<IllegalStateException> { group.add(n) }.message, "uploads", "n = $n")
            assertState(group, count = Int.MAX_VALUE, waiting = 1)
        }
        group.down()
        assertThrows<IllegalStateException> { group.add(2) }
        group.add(1)
        assertState(group, count = Int.MAX_VALUE, waiting = 1)
        assertTrue(waiter.isWaiting)
    }

    @Test
    fun done_atZero_throwsAndChangesNothing() {
        val group = group(1, name = "uploads")
        group.down()
        repeat(2) {
            assertContains(assertThrows<IllegalStateException> { group.down() }.message, "uploads", "zero")
            assertState(group, count = 0)
        }
        group.add()
        assertState(group, count = 1)
    }

    @Test
    fun await_partiesComeBeforeOthersHaveGone_waitsForAll() = runTest {
        val group = group(1)
        val waiter = Callers(this).call { group.await() }
        repeat(5) {
            group.add()
            group.down()
            runCurrent()
            assertTrue(waiter.isWaiting)
        }
        group.add(2)
        repeat(3) { group.down() }
        runCurrent()
        assertTrue(waiter.isServed)
    }

    @Test
    fun add_rightAfterZero_earlierWaitersAreLetInAllTheSame() = runTest {
        val callers = Callers(this)
        val group = group(1)
        for (name in listOf("a", "b", "c")) callers.call(name) { group.await() }
        group.down()
        group.add()
        assertState(group, count = 1, waiting = 0)
        runCurrent()
        assertEquals(listOf("a", "b", "c"), callers.served)
    }

    @Test
    fun await_afterAZeroWhoseWaitersHaveNotRunYet_waitsForTheNext() = runTest {
        val callers = Callers(this)
        val group = group(1)
        for (name in listOf("a", "b", "c")) callers.call(name) { group.await() }
        group.down()
        group.add()
        val late = List(3) { callers.callAtOnce("late $it") { group.await() } }
        assertState(group, count = 1, waiting = 3)
        runCurrent()
        assertEquals(listOf("a", "b", "c"), callers.served)
        assertTrue(late.all { it.isWaiting })
        group.down()
        runCurrent()
        assertTrue(late.all { it.isServed })
    }

    @Test
    fun await_roundAfterRound_everyZeroLetsInItsOwn() = runTest {
        val group = group()
        for (round in 1..5) {
            group.add(round)
            val callers = Callers(this)
            repeat(round) { callers.call("$it") { group.await() } }
            repeat(round) { group.down() }
            runCurrent()
            assertEquals((0..<round).map { "$it" }, callers.served)
            assertState(group, count = 0)
        }
    }

    @Test
    fun await_byOneLetInByAnOlderZero_waitsAgain() = runTest {
        val group = group(1)
        var rounds = 0
        Callers(this).call {
            while (true) {
                group.await()
                rounds++
                group.add()
            }
        }
        for (round in 1..5) {
            group.down()
            runCurrent()
            assertEquals(round, rounds)
            assertState(group, count = 1, waiting = 1)
        }
    }

    @Test
    fun cancel_letInByAnOlderZero_leavesTheNextRoundAlone() = runTest {
        val group = group(1)
        val old = List(3) { Callers(this).call { group.await() } }
        group.down()
        group.add()
        val next = List(3) { Callers(this).callAtOnce { group.await() } }
        old[1].cancel()
        next[1].cancel()
        assertState(group, count = 1, waiting = 2)
        runCurrent()
        assertEquals(listOf(true, false, true), old.map { it.isServed })
        group.down()
        runCurrent()
        assertEquals(listOf(true, false, true), next.map { it.isServed })
        assertTrue(old[1].isCancelled && next[1].isCancelled)
    }
}
