package baton.channels

import baton.waiting.FakeWaiter
import baton.waiting.Waiter
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Moments that no caller can bring about for certain. */
class ChannelCoreTest {
    private val channel = Channel<String>()
    private val core = channel.core

    private fun enqueue(tag: Any): FakeWaiter = FakeWaiter(core, tag = tag).also { core.enqueue(it, announced = false) }

    @Test
    fun sender_meetsOnlyAReceiverThatIsJustLeaving_elementIsNotLost() {
        val leaving = enqueue(ChannelCore.RECEIVE)
        assertTrue(leaving.tryLeave(Waiter.CANCELLED))
        val sender = enqueue("a")
        core.withdraw(leaving)
        val sent = sender.currentState == Waiter.GRANTED
        assertEquals("a", channel.tryReceive().getOrNull(), "sent: $sent")
        assertEquals(Waiter.GRANTED, sender.currentState)
    }

    @Test
    fun receiver_comesWhileAnotherWaitsForAPlaceThatWasPromised_doesNotOvertake() {
        val first = enqueue(ChannelCore.RECEIVE)
        assertEquals(Waiter.GRANTED, enqueue(ChannelCore.PLACE).currentState)
        val sender = enqueue("a")
        assertEquals(Waiter.WAITING, sender.currentState)
        assertTrue(channel.tryReceive().isFailure)
        val second = enqueue(ChannelCore.RECEIVE)
        assertEquals(listOf(1, 0, 1), listOf(first.resumed, second.resumed, sender.resumed))
        assertEquals("a", core.grantOf(first, null))
        assertTrue(core.sendReserved("b", 0))
        assertEquals("b", core.grantOf(second, null))
        assertEquals("Channel (size = 0, capacity = 0, waiting = 0)", channel.toString())
    }
}
