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
}
