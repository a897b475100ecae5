package baton.channels.contract

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.receiveOrNull
import baton.sync.assertContains
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** No further element is sent; the buffered elements are received, and then receivers get the end. */
interface ChannelClosing : ChannelFixture {
    @Test
    fun close_open_closes() {
        val channel = channel(1)
        assertTrue(channel.close())
        assertTrue(channel.isClosed)
        assertState(channel, size = 0)
    }

    @Test
    fun close_again_changesNothing() =
        runTest {
            val why = RuntimeException("first")
            val channel = channel(1)
            assertTrue(channel.close(why))
            assertFalse(channel.close(RuntimeException("second")))
            assertFalse(channel.close())
            val e = assertThrows<ChannelClosedException> { channel.trySend("a") }
            assertSame(why, e.cause)
        }

    @Test
    fun send_closed_throwsAndSendsNothing() =
        runTest {
            for (capacity in 0..1) {
                val channel = channel(capacity, name = "jobs")
                channel.close()
                val sender = Callers(this).call { channel.send("a") }
                val e = assertInstanceOf(ChannelClosedException::class.java, sender.failure)
                assertContains(e.message, "Channel 'jobs' is closed")
                assertThrows<ChannelClosedException> { channel.trySend("a") }
                assertState(channel, size = 0)
            }
        }

    @Test
    fun receive_closedAndNotDrained_receives() =
        runTest {
            val channel = channel(2).fill("a", "b")
            channel.close()
            assertState(channel, size = 2)
            assertEquals("a", channel.receive())
            assertEquals("b", channel.tryReceive())
        }

    @Test
    fun receive_closedAndDrained_throws() =
        runTest {
            val channel = channel(1).fill("a")
            val why = RuntimeException("why")
            channel.close(why)
            assertEquals("a", channel.receiveOrNull())
            val receiver = Callers(this).call { channel.receive() }
            val e = assertInstanceOf(ChannelClosedException::class.java, receiver.failure)
            assertTrue(why in e.causes())
            assertThrows<ChannelClosedException> { channel.tryReceive() }
            assertNull(channel.receiveOrNull())
        }

    @Test
    fun close_receiversWait_failsThemAll() =
        runTest {
            val channel = channel(1)
            val waiters = List(3) { Callers(this).call("$it") { channel.receive() } }
            val catching = Callers(this).call { assertNull(channel.receiveOrNull()) }
            channel.close()
            assertState(channel, size = 0)
            runCurrent()
            for (waiter in waiters) assertInstanceOf(ChannelClosedException::class.java, waiter.failure)
            assertTrue(catching.isServed, "$catching")
        }

    @Test
    fun close_sendersWait_failsThemAndTheirElementsAreNotInside() =
        runTest {
            for (capacity in 0..2) {
                val channel = channel(capacity).fill(*Array(capacity) { "$it" })
                val why = RuntimeException("why")
                val senders = List(3) { Callers(this).call { channel.send("late $it") } }
                channel.close(why)
                assertState(channel, size = capacity)
                runCurrent()
                for (sender in senders) {
                    val e = assertInstanceOf(ChannelClosedException::class.java, sender.failure)
                    assertTrue(why in e.causes())
                }
                assertEquals(List(capacity) { "$it" }, drain(channel))
            }
        }

    @Test
    fun close_receiverHasItsElementButHasNotRun_receives() =
        runTest {
            val channel = channel()
            val receivers = Receivers(this, channel)
            receivers.receive()
            channel.fill("a")
            channel.close()
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
        }

    @Test
    fun close_receiverHasItsElementAndIsCancelled_elementCanBeReceived() =
        runTest {
            val channel = channel()
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a")
            channel.close()
            unlucky.cancel()
            runCurrent()
            assertEquals("a", channel.tryReceive())
            assertThrows<ChannelClosedException> { channel.tryReceive() }
        }

    @Test
    fun closedException_isAnIllegalStateAndNoCancellation() {
        val channel = channel(1)
        channel.close()
        val e: Throwable = assertThrows<ChannelClosedException> { channel.trySend("a") }
        assertTrue(e is IllegalStateException)
        assertFalse(e is CancellationException)
        assertNull(e.cause)
    }

    @Test
    fun close_withACancellationAsCause_isStillClosed() =
        runTest {
            val why = CancellationException("why")
            val channel = channel(1)
            channel.close(why)
            val receiver = Callers(this).call { channel.receive() }
            assertInstanceOf(ChannelClosedException::class.java, receiver.failure)
            assertTrue(why in receiver.failure!!.causes())
        }

    @Test
    fun close_fromAReceiver_endsTheOthers() =
        runTest {
            val channel = channel()
            val other = Callers(this)
            val closer =
                Callers(this).call {
                    channel.receive()
                    channel.close()
                }
            val next = other.call { channel.receive() }
            channel.fill("last")
            runCurrent()
            assertTrue(closer.isServed)
            assertInstanceOf(ChannelClosedException::class.java, next.failure)
        }

    @Test
    fun resize_closed_throwsAndChangesNothing() {
        val channel = channel(1)
        channel.close()
        assertThrows<ChannelClosedException> { channel.resize(5) }
        assertEquals(1, channel.capacity)
    }
}
