package baton.channels.contract

import baton.channels.ChannelClosedException
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A waiting sender has its element with it, and is served for good when it is taken; except in a `select`. */
interface ChannelMeetings : ChannelFixture {
    @Test
    fun tryReceive_rendezvousAndSenderWaits_takesItsElement() =
        runTest {
            val channel = channel()
            val sender = Callers(this).call { channel.send("a") }
            assertEquals("a", channel.tryReceive())
            assertNull(channel.tryReceive())
            runCurrent()
            assertTrue(sender.isServed)
        }

    @Test
    fun send_elementTakenAndThenCancelled_returnsNormally() =
        runTest {
            for (capacity in 0..2) {
                val channel = channel(capacity).fill(*Array(capacity) { "$it" })
                val sender = Callers(this).call { channel.send("$capacity") }
                assertEquals("0", channel.tryReceive())
                sender.cancel()
                runCurrent()
                assertTrue(sender.isServed, "$sender")
                assertEquals((1..capacity).map { "$it" }, drain(channel))
            }
        }

    @Test
    fun send_elementTakenAndThenTheChannelIsClosed_returnsNormally() =
        runTest {
            val channel = channel()
            val sender = Callers(this).call { channel.send("a") }
            assertEquals("a", channel.tryReceive())
            channel.close()
            runCurrent()
            assertTrue(sender.isServed, "$sender")
        }

    @Test
    fun receive_twoAtOnceWhileSendersWait_elementsKeepTheirOrder() =
        runTest {
            val channel = channel(1).fill("0")
            val callers = Callers(this)
            for (i in 1..3) callers.call("$i") { channel.send("$i") }
            assertEquals(listOf("0", "1", "2", "3"), List(4) { channel.tryReceive() })
            runCurrent()
            assertEquals(listOf("1", "2", "3"), callers.served)
        }

    @Test
    fun close_sendersWaitBehindAFullBuffer_theirElementsAreNotInside() =
        runTest {
            val channel = channel(1).fill("a")
            val taken = Callers(this).call { channel.send("b") }
            val left = Callers(this).call { channel.send("c") }
            assertEquals("a", channel.tryReceive())
            channel.close()
            runCurrent()
            assertTrue(taken.isServed)
            assertTrue(left.failure is ChannelClosedException)
            assertEquals(listOf("b"), drain(channel))
        }
}
