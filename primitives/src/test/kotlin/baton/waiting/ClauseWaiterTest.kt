package baton.waiting

import baton.bridge.RECEIVE
import baton.bridge.coreOf
import baton.bridge.sendIfNotSent
import baton.bridge.wrap
import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.Semaphore
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A select acts on a clause while another thread, which has granted the clause something, waits for the select's
 * decision. Here, [Clause.answer] acts as the thread of the select would in that moment.
 */
class ClauseWaiterTest {
    private class Clause(
        core: WaitCore,
        request: Any?,
        selectId: Any,
        private val name: String = "clause",
        private val answer: Clause.() -> Boolean,
    ) : ClauseWaiter(core, number = 1, request, selectId) {
        override fun isSameClause(other: Waiter): Boolean =
            other is Clause && other.selectId === selectId && other.name == name

        override fun resume(): Boolean = answer()

        override fun resumeFailed() = Unit

        fun dispose() = lose()
    }

    private val select = Any()

    @Test
    fun release_selectDisposesOfTheClauseAndRefuses_permitIsReturnedOnce() {
        val semaphore = Semaphore(permits = 2, acquired = 2)
        val core = coreOf(semaphore)
        val clause =
            Clause(core, request = null, select) {
                dispose()
                false
            }
        core.enqueue(clause)

        semaphore.release()

        assertEquals(1, semaphore.availablePermits)
    }

    @Test
    fun unlock_selectEnqueuesTheClauseAgainAndRefuses_ownerGetsTheMutex() {
        val mutex = Mutex(locked = true)
        val core = coreOf(mutex)
        val again = Clause(core, "owner", select) { true }
        val first =
            Clause(core, "owner", select) {
                core.enqueue(again)
                false
            }
        core.enqueue(first)

        mutex.unlock()

        assertEquals(Waiter.RETURNED, first.currentState)
        assertEquals(Waiter.GRANTED, again.currentState)
        assertTrue(mutex.holder == "owner")
    }

    @Test
    fun unlock_selectEnqueuesAnotherClauseOfTheOwnerAndAccepts_otherWaits() {
        val mutex = Mutex(locked = true)
        val core = coreOf(mutex)
        val other = Clause(core, "owner", select, "other") { true }
        val first =
            Clause(core, "owner", select) {
                core.enqueue(other)
                true
            }
        core.enqueue(first)

        mutex.unlock()

        assertEquals(Waiter.GRANTED, first.currentState)
        assertEquals(Waiter.WAITING, other.currentState)
        assertTrue(mutex.holder == "owner")
    }

    @Test
    fun unlock_selectEnqueuesAnotherClauseOfTheOwnerAndRefuses_otherGetsTheMutex() {
        val mutex = Mutex(locked = true)
        val core = coreOf(mutex)
        val other = Clause(core, "owner", select, "other") { true }
        core.enqueue(
            Clause(core, "owner", select) {
                core.enqueue(other)
                false
            }
        )

        mutex.unlock()

        assertEquals(Waiter.GRANTED, other.currentState)
        assertTrue(mutex.holder == "owner")
    }

    @Test
    fun onSend_receivingSelectRefuses_takesTheRoomOfTheBuffer() {
        val channel = Channel<String>(1)
        val core = coreOf(channel)
        core.enqueue(Clause(core, RECEIVE, select) { false })
        val sender = Clause(core, wrap("x"), selectId = Any()) { true }

        val state = core.enqueue(sender)

        assertEquals(Waiter.GRANTED, state)
        sendIfNotSent(channel, sender)
        assertEquals("x", channel.tryReceive().getOrNull())
    }

    @Test
    fun trySend_receivingSelectRefuses_takesTheRoomOfTheBuffer() {
        val channel = Channel<String>(1)
        val core = coreOf(channel)
        core.enqueue(Clause(core, RECEIVE, select) { false })

        assertTrue(channel.trySend("x").isSuccess)

        assertEquals("x", channel.tryReceive().getOrNull())
    }
}
