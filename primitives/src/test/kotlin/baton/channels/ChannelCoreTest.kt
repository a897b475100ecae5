package baton.channels

import baton.channels.core.ChannelCore
import baton.channels.core.ChannelState
import baton.waiting.FakeWaiter
import baton.waiting.Waiter
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** A withdrawn waiter leaves nothing behind. The waiters resume in place. */
class ChannelCoreTest {
    private val dropped = mutableListOf<Any?>()

    private fun core(capacity: Int, onFull: OnFull) = Channel(capacity, onFull = onFull, onDropped = dropped::add).core

    private fun ChannelCore<Any?>.withdrawnReceiver(): FakeWaiter {
        val waiter = FakeWaiter(this, request = ChannelState.RECEIVE)
        check(enqueue(waiter) == Waiter.WAITING)
        check(waiter.withdraw(Waiter.CANCELLED) == Waiter.WAITING)
        return waiter
    }

    @Test
    fun offer_receiverWasWithdrawn_isRefused() {
        val core = core(0, OnFull.SUSPEND)
        core.withdrawnReceiver()
        assertEquals(ChannelState.Outcome.BUSY, core.offer("a", 0))
        assertEquals(0, core.size)
        assertEquals(0, core.waiting)
    }

    @Test
    fun offer_receiverWasWithdrawn_channelIsNotFilledBeyondItsCapacity() {
        for ((onFull, held) in listOf(OnFull.DROP_OLDEST to "b", OnFull.DROP_LATEST to "a")) {
            val core = core(1, onFull)
            core.withdrawnReceiver()
            for (element in listOf("a", "b")) core.offer(element, 0)
            assertEquals(1, core.size)
            assertEquals(held, core.poll())
        }
        assertEquals(listOf("a", "b"), dropped)
    }

    /** The bug: the core granted the sender because of the withdrawn receiver, and no receiver got the element. */
    @Test
    fun senderComes_receiverWasWithdrawn_elementOfAGrantedSenderIsNotLost() {
        val core = core(0, OnFull.SUSPEND)
        core.withdrawnReceiver()
        val sender = FakeWaiter(core, number = 0, request = "a")
        val state = core.enqueue(sender)
        assertEquals(if (state == Waiter.GRANTED) 1 else 0, core.size)
        assertEquals("a", core.poll())
    }

    @Test
    fun offer_receiverBehindAWithdrawnOne_isServed() {
        val core = core(0, OnFull.SUSPEND)
        core.withdrawnReceiver()
        val next = FakeWaiter(core, request = ChannelState.RECEIVE)
        core.enqueue(next)
        assertEquals(ChannelState.Outcome.DONE, core.offer("a", 0))
        assertEquals(1, next.resumed)
        assertEquals("a", core.grantOf(next, null))
    }

    @Test
    fun poll_senderWasWithdrawn_itsElementIsNotTaken() {
        val core = core(0, OnFull.SUSPEND)
        val withdrawn = FakeWaiter(core, number = 0, request = "a")
        check(core.enqueue(withdrawn) == Waiter.WAITING)
        check(withdrawn.withdraw(Waiter.CANCELLED) == Waiter.WAITING)
        val next = FakeWaiter(core, number = 0, request = "b")
        core.enqueue(next)
        assertEquals("b", core.poll())
        assertEquals(ChannelState.EMPTY, core.poll())
        assertEquals(1, next.resumed)
    }

    @Test
    fun grantThatFindsNoReceiver_goesToTheNextOrBackToTheHead() {
        val core = core(2, OnFull.SUSPEND)
        val refusing = FakeWaiter(core, request = ChannelState.RECEIVE, accepts = false)
        val next = FakeWaiter(core, request = ChannelState.RECEIVE)
        val last = FakeWaiter(core, request = ChannelState.RECEIVE, accepts = false)
        for (waiter in listOf(refusing, next, last)) core.enqueue(waiter)
        core.offer("a", 0)
        assertEquals("a", core.grantOf(next, null))
        core.offer("b", 0)
        core.offer("c", 0)
        assertEquals(listOf("b", "c"), listOf(core.poll(), core.poll()))
    }

    @Test
    fun receiver_comesWhileAnotherWaitsForAPlaceThatWasPromised_doesNotOvertake() {
        val core = core(0, OnFull.SUSPEND)
        val (first, place, sender) =
            listOf(ChannelState.RECEIVE, ChannelState.PLACE, "a").map { request ->
                FakeWaiter(core, number = 0, request = request).also { core.enqueue(it) }
            }
        assertEquals(Waiter.GRANTED, place.currentState)
        assertEquals(Waiter.WAITING, sender.currentState)
        assertEquals(ChannelState.EMPTY, core.poll())
        val second = FakeWaiter(core, number = 0, request = ChannelState.RECEIVE)
        core.enqueue(second)
        assertEquals(listOf(1, 0, 1), listOf(first.resumed, second.resumed, sender.resumed))
        assertEquals("a", core.grantOf(first, null))
        assertEquals(true, core.sendReserved("b", 0))
        assertEquals("b", core.grantOf(second, null))
        assertEquals(0, core.size + core.waiting)
    }

    /** The caller that holds the place has won its select by then. Its element stays buffered for the next receiver. */
    @Test
    fun place_receiverItWasPromisedLeaves_isUsedAllTheSame() {
        val core = core(0, OnFull.SUSPEND)
        val receiver = FakeWaiter(core, number = 0, request = ChannelState.RECEIVE)
        core.enqueue(receiver)
        val place = FakeWaiter(core, number = 0, request = ChannelState.PLACE)
        assertEquals(Waiter.GRANTED, core.enqueue(place))
        check(receiver.withdraw(Waiter.CANCELLED) == Waiter.WAITING)
        assertEquals(true, core.sendReserved("a", 0))
        assertEquals(1, core.size)
        assertEquals("a", core.poll())
        assertEquals(ChannelState.EMPTY, core.poll())
    }
}
