package baton.channels.contract

import baton.channels.Channel
import baton.waiting.Callers
import kotlin.random.Random
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Waiting callers: first come, first served, on both sides. */
interface ChannelLines : ChannelFixture {
    @Test
    fun receive_empty_waitsForTheNextElement() =
        runTest {
            for (capacity in listOf(0, 1, Channel.UNLIMITED)) {
                val channel = channel(capacity)
                val receivers = Receivers(this, channel)
                val receiver = receivers.receive()
                assertTrue(receiver.isWaiting)
                assertState(channel, size = 0, waiting = 1)
                assertTrue(channel.trySend("a"))
                assertState(channel, size = 0)
                runCurrent()
                assertEquals(listOf("a"), receivers.got)
            }
        }

    @Test
    fun receive_severalWait_areServedInTheOrderTheyCame() =
        runTest {
            val channel = channel()
            val callers = Callers(this)
            for (name in listOf("a", "b", "c")) callers.call(name) { channel.receive() }
            for (let in 1..3) {
                callers.call("sender $let") { channel.send("$let") }
                assertEquals(let, callers.served.count { !it.startsWith("sender") })
            }
            assertEquals(listOf("a", "b", "c"), callers.served.filter { !it.startsWith("sender") })
            assertState(channel, size = 0)
        }

    @Test
    fun send_full_waitsForAPlace() =
        runTest {
            val channel = channel(1).fill("a")
            val sender = Callers(this).call { channel.send("b") }
            assertTrue(sender.isWaiting)
            assertState(channel, size = 1, waiting = 1)
            assertEquals("a", channel.tryReceive())
            runCurrent()
            assertTrue(sender.isServed)
            assertState(channel, size = 1)
            assertEquals("b", channel.tryReceive())
        }

    @Test
    fun send_severalWait_comeInInTheOrderTheyCame() =
        runTest {
            val channel = channel(2).fill("0", "1")
            val callers = Callers(this)
            for (i in 2..5) callers.call("$i") { channel.send("$i") }
            assertState(channel, size = 2, waiting = 4)
            for (i in 0..5) {
                assertEquals("$i", channel.tryReceive())
                runCurrent()
            }
            assertEquals(listOf("2", "3", "4", "5"), callers.served)
            assertNull(channel.tryReceive())
        }

    @Test
    fun send_rendezvous_waitsForAReceiver() =
        runTest {
            val channel = channel()
            val sender = Callers(this).call { channel.send("a") }
            assertTrue(sender.isWaiting)
            assertState(channel, size = 0, waiting = 1)
            val receivers = Receivers(this, channel)
            assertTrue(receivers.receive().isServed)
            assertTrue(sender.isServed)
            assertEquals(listOf("a"), receivers.got)
            assertState(channel, size = 0)
        }

    @Test
    fun rendezvous_pairs_meetInOrder() =
        runTest {
            val channel = channel()
            val callers = Callers(this)
            for (i in 1..5) callers.call { channel.send("$i") }
            assertState(channel, size = 0, waiting = 5)
            val receivers = Receivers(this, channel)
            for (i in 1..5) receivers.receive()
            assertEquals((1..5).map { "$it" }, receivers.got)
            assertState(channel, size = 0)
        }

    @Test
    fun trySend_sendersWait_doesNotOvertake() =
        runTest {
            val channel = channel(1).fill("a")
            Callers(this).call { channel.send("b") }
            assertEquals("a", channel.tryReceive())
            assertFalse(channel.trySend("c"))
            runCurrent()
            assertEquals(listOf("b"), drain(channel))
        }

    @Test
    fun send_senderNotRunYet_placeIsAlreadyTheSenders() =
        runTest {
            val channel = channel(1).fill("a")
            val callers = Callers(this)
            val first = callers.call("first") { channel.send("b") }
            assertEquals("a", channel.tryReceive())
            val newcomer = callers.callAtOnce("newcomer") { channel.send("c") }
            assertTrue(newcomer.isWaiting)
            runCurrent()
            assertTrue(first.isServed)
            assertEquals(listOf("b", "c"), drain(channel))
        }

    @Test
    fun receive_receiverNotRunYet_elementIsAlreadyTheReceivers() =
        runTest {
            val channel = channel(1)
            val receivers = Receivers(this, channel)
            receivers.receive()
            assertTrue(channel.trySend("a"))
            assertNull(channel.tryReceive())
            val newcomer = receivers.receiveAtOnce("newcomer")
            assertTrue(newcomer.isWaiting)
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
            assertState(channel, size = 0, waiting = 1)
        }

    @Test
    fun send_receiversWait_capacityStaysFree() =
        runTest {
            val channel = channel(1)
            val receivers = Receivers(this, channel)
            receivers.receive()
            assertTrue(channel.trySend("a"))
            assertTrue(channel.trySend("b"))
            assertFalse(channel.trySend("c"))
            assertState(channel, size = 1)
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
        }

    @Test
    fun lines_runEmpty_newcomersDoNotWaitAgain() =
        runTest {
            val channel = channel(1).fill("a")
            val callers = Callers(this)
            repeat(3) { callers.call { channel.send("$it") } }
            assertEquals(listOf("a", "0", "1", "2"), drain(channel))
            assertTrue(callers.callAtOnce { channel.send("b") }.isServed)
            assertEquals("b", channel.tryReceive())
        }

    @Test
    fun receiver_getsAndReceivesAgain_goesToTheEndOfTheLine() =
        runTest {
            val channel = channel()
            val log = mutableListOf<String>()
            val callers = Callers(this)
            for (name in listOf("a", "b")) callers.call { while (true) log += name + channel.receive() }
            for (i in 1..6) callers.call { channel.send("$i") }
            assertEquals(listOf("a1", "b2", "a3", "b4", "a5", "b6"), log)
        }

    @Test
    fun pipeline_throughThreeChannels_keepsTheOrder() =
        runTest {
            val channels = listOf(channel(), channel(1), channel(3))
            val callers = Callers(this)
            for ((from, to) in channels.zipWithNext()) callers.call { while (true) to.send(from.receive()) }
            callers.call { for (i in 1..50) channels.first().send("$i") }
            assertEquals((1..50).map { "$it" }, List(50) { channels.last().receive() })
        }

    @Test
    fun waiting_throughAWholeLife_isExact() =
        runTest {
            val channel = channel(1)
            val receivers = Receivers(this, channel)
            receivers.receive()
            receivers.receive()
            assertState(channel, size = 0, waiting = 2)
            channel.fill("a")
            assertState(channel, size = 0, waiting = 1)
            channel.fill("b", "c")
            assertState(channel, size = 1)
            runCurrent()
            Callers(this).call { channel.send("d") }
            assertState(channel, size = 1, waiting = 1)
            assertEquals(listOf("c", "d"), drain(channel))
            assertState(channel, size = 0)
        }

    @Test
    fun lines_randomSendsAndReceives_keepTheOrderAndLoseNothing() =
        runTest {
            repeat(100) { seed ->
                val random = Random(seed)
                val channel = channel(random.nextInt(4))
                val receivers = Receivers(this, channel)
                val callers = Callers(this)
                var sent = 0
                var asked = 0
                repeat(40) {
                    if (random.nextBoolean()) {
                        val element = "${sent++}"
                        callers.call { channel.send(element) }
                    } else {
                        asked++
                        receivers.receive()
                    }
                    assertEquals((0 until minOf(sent, asked)).map { "$it" }, receivers.got)
                    val held = (sent - asked).coerceIn(0, channel.capacity)
                    assertState(channel, held, waiting = maxOf(asked - sent, sent - asked - held))
                }
            }
        }
}
