package baton.sync.core

import baton.waiting.Waiter
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

class InflatingCoreTest {
    @Test
    fun decision_thatThrows_leavesTheFieldsInForce() {
        for (former in listOf(5L, InflatingCore.INFLATED, InflatingCore.BLOCKED)) {
            val core = CountingCore(former)
            assertThrows<IllegalStateException> {
                core.decideInflated {
                    core.field = 7
                    error("in the middle")
                }
            }
            assertEquals(InflatingCore.INFLATED, core.word)

            assertEquals(7, core.decideInflated { core.field })
            assertEquals(7, core.word)
        }
    }

    @Test
    fun decision_thatEndsABlock_isSeenInTheWordAndTheFields() {
        val core = CountingCore(5)
        core.decideInflated { core.isBlocked = true }
        assertEquals(InflatingCore.BLOCKED, core.word)

        core.decideInflated {
            core.isBlocked = false
            core.field++
        }
        assertEquals(6, core.word)
    }

    private class CountingCore(word: Long) : InflatingCore(word) {
        var field = 0L
        var isBlocked = false

        override fun readWord(word: Long) {
            field = word
        }

        override fun demandedWord(): Long = if (isBlocked) BLOCKED else field

        override fun enqueue(waiter: Waiter): Int = error("no waiters")

        override fun takeBack(waiter: Waiter) = error("no waiters")

        override fun failure(waiter: Waiter): Throwable = error("no waiters")

        override fun label(): String = "counter"

        override fun verbOf(waiter: Waiter): String = "count"

        override fun toString(): String = label()
    }
}
