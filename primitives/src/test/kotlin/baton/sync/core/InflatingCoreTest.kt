package baton.sync.core

import baton.waiting.WaitCore
import baton.waiting.Waiter
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

@Tag("jdk")
class InflatingCoreTest {
    @Test
    fun decision_thatThrows_leavesTheFieldsInForce() {
        for (former in listOf(5L, InflatingCore.INFLATED, InflatingCore.BLOCKED)) {
            for (decision in Decision.entries) {
                val core = CountingCore(former)
                assertThrows<IllegalStateException> { decision.run(core) }
                assertEquals(InflatingCore.INFLATED, core.word) { "$decision from $former" }

                assertEquals(7, core.decideInflated { core.field })
                assertEquals(7, core.word)
            }
        }
    }

    private enum class Decision(val run: (CountingCore) -> Unit) {
        ANY({ it.decideInflated { it.failInTheMiddle() } }),
        GIVE_BACK({ it.giveBack(Queued(it)) }),
        WITHDRAW({ it.leaveQueue(Queued(it), Waiter.CANCELLED) }),
    }

    private class Queued(core: WaitCore) : Waiter(core, number = 1, request = null) {
        override fun resume() = error("never resumed")

        override fun resumeFailed() = error("never resumed")
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

        override fun isQueued(waiter: Waiter) = true

        override fun takeBackInflated(waiter: Waiter) = failInTheMiddle()

        override fun removeInflated(waiter: Waiter) = failInTheMiddle()

        fun failInTheMiddle(): Nothing {
            field = 7
            error("in the middle")
        }

        override fun failure(waiter: Waiter): Throwable = error("no waiters")

        override fun label(): String = "counter"

        override fun verbOf(waiter: Waiter): String = "count"

        override fun toString(): String = label()
    }
}
