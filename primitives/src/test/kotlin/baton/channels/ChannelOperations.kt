package baton.channels

import baton.Priority
import baton.channels.contract.ChannelFixture
import baton.channels.contract.Receivers
import baton.channels.contract.assertState
import baton.channels.contract.cancelThisCoroutine
import baton.channels.contract.drain
import baton.channels.contract.fill
import baton.sync.assertContains
import baton.waiting.Callers
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Sending and receiving where no caller has to wait; names, numbers, refusals. */
interface ChannelOperations : ChannelFixture {
    @Test
    fun channel_new_isEmptyAndOpen() {
        for (capacity in listOf(0, 1, 2, Channel.UNLIMITED)) {
            val channel = channel(capacity)
            assertEquals(capacity, channel.capacity)
            assertFalse(channel.isClosed)
            assertState(channel, size = 0)
            assertNull(channel.tryReceive())
        }
    }

    @Test
    fun channel_negativeCapacity_isRefused() {
        for (capacity in listOf(Int.MIN_VALUE, -1)) {
            val e = assertThrows<IllegalArgumentException> { channel(capacity) }
            assertContains(e.message, "capacity = $capacity", "at least 0")
        }
    }

    @Test
    fun send_placeFree_doesNotWait() =
        runTest {
            val channel = channel(2)
            assertTrue(Callers(this).callAtOnce { channel.send("a") }.isServed)
            assertTrue(Callers(this).callAtOnce { channel.send("b") }.isServed)
            assertState(channel, size = 2)
        }

    @Test
    fun receive_elementThere_doesNotWait() =
        runTest {
            val channel = channel(2).fill("a", "b")
            val receivers = Receivers(this, channel)
            assertTrue(receivers.receiveAtOnce().isServed)
            assertTrue(receivers.receiveAtOnce().isServed)
            assertEquals(listOf("a", "b"), receivers.got)
            assertState(channel, size = 0)
        }

    @Test
    fun trySend_noPlace_isRefusedAndChangesNothing() {
        val channel = channel(1).fill("a")
        assertFalse(channel.trySend("b"))
        assertState(channel, size = 1)
        assertEquals("a", channel.tryReceive())
        assertNull(channel.tryReceive())
    }

    @Test
    fun trySend_rendezvousAndNobodyReceives_isRefused() {
        val channel = channel()
        assertFalse(channel.trySend("a"))
        assertState(channel, size = 0)
    }

    @Test
    fun tryReceive_empty_answersNothing() {
        for (capacity in listOf(0, 1, Channel.UNLIMITED)) assertNull(channel(capacity).tryReceive())
    }

    @Test
    fun elements_manyInAndOut_comeInTheOrderTheyWereSent() =
        runTest {
            for (capacity in listOf(1, 2, 31, 32, 33, 100, Channel.UNLIMITED)) {
                val channel = channel(capacity)
                var sent = 0
                var received = 0
                repeat(20) { round ->
                    repeat(round * 7 % 41) { if (channel.trySend("$sent")) sent++ }
                    repeat(round * 5 % 37) { if (channel.size > 0) assertEquals("${received++}", channel.tryReceive()) }
                    assertState(channel, size = sent - received)
                }
                assertEquals((received until sent).map { "$it" }, drain(channel))
            }
        }

    @Test
    fun unlimited_takesWhateverComes() =
        runTest {
            val channel = channel(Channel.UNLIMITED)
            repeat(10_000) { channel.send("$it") }
            assertState(channel, size = 10_000)
            repeat(10_000) { assertEquals("$it", channel.receive()) }
            assertState(channel, size = 0)
        }

    @Test
    fun receiveOrNull_elementThere_isTheElement() =
        runTest {
            assertEquals("a", channel(1).fill("a").receiveOrNull())
        }

    @Test
    fun equalElements_areAllHandedOn() =
        runTest {
            val channel = channel(3).fill("a", "a", "a")
            assertEquals(listOf("a", "a", "a"), drain(channel))
        }

    @Test
    fun send_inACancelledCoroutineWithAPlace_isSent() =
        runTest {
            val channel = channel(1)
            val caller =
                Callers(this).call {
                    cancelThisCoroutine()
                    channel.send("a")
                }
            assertTrue(caller.isServed)
            assertEquals("a", channel.tryReceive())
        }

    @Test
    fun receive_inACancelledCoroutineWithAnElement_isReceived() =
        runTest {
            val channel = channel(1).fill("a")
            var got: String? = null
            Callers(this).call {
                cancelThisCoroutine()
                got = channel.receive()
            }
            assertEquals("a", got)
            assertState(channel, size = 0)
        }

    @Test
    fun trySend_withALevel_playsNoRoleInFifo() =
        runTest {
            val channel = channel(2)
            assertTrue(channel.trySend("a", Priority.IDLE))
            assertTrue(channel.trySend("b", Priority.CRITICAL))
            assertEquals(listOf("a", "b"), drain(channel))
        }

    @Test
    fun toString_saysNameAndState() =
        runTest {
            val channel = channel(2, name = "jobs").fill("a", "b")
            Callers(this).call { channel.send("c") }
            assertContains("$channel", "Channel 'jobs'", "size = 2", "capacity = 2", "waiting = 1")
            channel.close()
            assertContains("$channel", "waiting = 0", "closed")
            channel.cancel()
            assertContains("$channel", "size = 0", "cancelled")
            assertContains("${channel(Channel.UNLIMITED)}", "unlimited")
        }
}
