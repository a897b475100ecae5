package baton.channels.contract

import baton.channels.Channel
import baton.sync.assertContains
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** More room, less room. */
interface ChannelResizing : ChannelFixture {
    @Test
    fun resize_negative_isRefusedAndChangesNothing() {
        val channel = channel(2).fill("a")
        for (capacity in listOf(Int.MIN_VALUE, -1)) {
            val e = assertThrows<IllegalArgumentException> { channel.resize(capacity) }
            assertContains(e.message, "capacity = $capacity", "at least 0")
            assertEquals(2, channel.capacity)
            assertState(channel, size = 1)
        }
    }

    @Test
    fun resize_toTheEdges_isWhatItSays() {
        val channel = channel(1)
        for (capacity in listOf(0, 1, Int.MAX_VALUE, 0)) {
            channel.resize(capacity)
            assertEquals(capacity, channel.capacity)
            assertEquals(capacity > 0, channel.trySend("a"))
            if (capacity > 0) assertEquals("a", channel.tryReceive())
        }
    }

    @Test
    fun resize_up_letsInAsManyAsFit() =
        runTest {
            val channel = channel(1).fill("0")
            val callers = Callers(this)
            for (i in 1..4) callers.call("$i") { channel.send("$i") }
            channel.resize(3)
            runCurrent()
            assertEquals(listOf("1", "2"), callers.served)
            assertState(channel, size = 3, waiting = 2)
            channel.resize(Channel.UNLIMITED)
            runCurrent()
            assertEquals(listOf("1", "2", "3", "4"), callers.served)
            assertEquals((0..4).map { "$it" }, drain(channel))
        }

    @Test
    fun resize_rendezvousToBuffered_sendersNeedNoReceiver() =
        runTest {
            val channel = channel()
            val sender = Callers(this).call { channel.send("a") }
            channel.resize(1)
            runCurrent()
            assertTrue(sender.isServed)
            assertState(channel, size = 1)
        }

    @Test
    fun resize_down_throwsNothingAway() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(3, onDropped = dropped::add).fill("a", "b", "c")
            channel.resize(1)
            assertState(channel, size = 3)
            assertFalse(channel.trySend("d"))
            assertEquals(listOf("a", "b", "c"), drain(channel))
            assertEquals(emptyList<String>(), dropped)
            assertTrue(channel.trySend("d"))
            assertFalse(channel.trySend("e"))
        }

    @Test
    fun resize_down_sendersWaitUntilItIsBelow() =
        runTest {
            val channel = channel(3).fill("a", "b", "c")
            val sender = Callers(this).call { channel.send("d") }
            channel.resize(1)
            repeat(2) {
                channel.tryReceive()
                runCurrent()
                assertTrue(sender.isWaiting)
            }
            channel.tryReceive()
            runCurrent()
            assertTrue(sender.isServed)
            assertState(channel, size = 1)
        }

    @Test
    fun resize_toRendezvous_whatIsInsideIsReceivedAndThenTheyMeet() =
        runTest {
            val channel = channel(1).fill("a")
            channel.resize(0)
            val sender = Callers(this).call { channel.send("b") }
            assertEquals("a", channel.tryReceive())
            runCurrent()
            assertTrue(sender.isWaiting)
            val receivers = Receivers(this, channel)
            receivers.receive()
            assertTrue(sender.isServed)
            assertEquals(listOf("b"), receivers.got)
        }

    @Test
    fun resize_receiversWait_changesNothingForThem() =
        runTest {
            val channel = channel(1)
            val receivers = Receivers(this, channel)
            receivers.receive()
            channel.resize(0)
            channel.resize(5)
            assertState(channel, size = 0, waiting = 1)
            channel.fill("a")
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
        }
}
