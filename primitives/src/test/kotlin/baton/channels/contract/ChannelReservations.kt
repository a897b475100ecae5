package baton.channels.contract

import baton.channels.ChannelClosedException
import baton.sync.assertContains
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Places that are reserved for a sender. */
interface ChannelReservations : ChannelFixture {
    @Test
    fun reserve_placeFree_keepsItWithoutWaiting() =
        runTest {
            val channel = channel(1)
            assertTrue(Callers(this).callAtOnce { channel.reserve() }.isServed)
            assertFalse(channel.trySend("a"))
            assertState(channel, size = 0)
        }

    @Test
    fun reserve_inACancelledCoroutineWithAPlace_isReserved() =
        runTest {
            val channel = channel(1)
            val caller =
                Callers(this).call {
                    cancelThisCoroutine()
                    channel.reserve()
                }
            assertTrue(caller.isServed, "$caller")
        }

    @Test
    fun placeSend_isReceivedInTheOrderOfSendingNotOfReserving() =
        runTest {
            val channel = channel(2)
            val place = channel.reserve()
            channel.send("a")
            place.send("b")
            assertState(channel, size = 2)
            assertEquals(listOf("a", "b"), drain(channel))
        }

    @Test
    fun placeSend_receiverWaits_isReceived() =
        runTest {
            val channel = channel(1)
            val place = channel.reserve()
            val receivers = Receivers(this, channel)
            assertTrue(receivers.receive().isWaiting)
            place.send("a")
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
            assertState(channel, size = 0)
        }

    @Test
    fun placeSend_again_isMisuseAndSendsNothing() =
        runTest {
            val channel = channel(2)
            val place = channel.reserve()
            place.send("a")
            assertThrows<IllegalStateException> { place.send("b") }
            place.close()
            assertEquals(listOf("a"), drain(channel))
            assertTrue(channel.trySend("c") && channel.trySend("d"))
            assertFalse(channel.trySend("e"))
        }

    @Test
    fun placeClose_givesThePlaceBackOnce() =
        runTest {
            val channel = channel(2).fill("a")
            val place = channel.reserve()
            repeat(3) { place.close() }
            assertThrows<IllegalStateException> { place.send("b") }
            assertTrue(channel.trySend("b"))
            assertFalse(channel.trySend("c"))
        }

    @Test
    fun reserve_full_waitsAndComesInInItsTurn() =
        runTest {
            val channel = channel(1).fill("a")
            val callers = Callers(this)
            var place: PlaceFace? = null
            callers.call("reserve") { place = channel.reserve() }
            callers.call("send") { channel.send("c") }
            assertState(channel, size = 1, waiting = 2)
            assertEquals("a", channel.tryReceive())
            runCurrent()
            assertEquals(listOf("reserve"), callers.served)
            place!!.send("b")
            assertState(channel, size = 1, waiting = 1)
            assertEquals("b", channel.tryReceive())
            runCurrent()
            assertEquals(listOf("reserve", "send"), callers.served)
            assertEquals(listOf("c"), drain(channel))
        }

    @Test
    fun placeClose_senderWaits_comesIn() =
        runTest {
            val channel = channel(1)
            val place = channel.reserve()
            val sender = Callers(this).call { channel.send("a") }
            assertTrue(sender.isWaiting)
            place.close()
            runCurrent()
            assertTrue(sender.isServed)
            assertEquals(listOf("a"), drain(channel))
        }

    @Test
    fun reserve_rendezvous_isMisuse() =
        runTest {
            val channel = channel(0, name = "jobs")
            val caller = Callers(this).call { channel.reserve() }
            val e = assertInstanceOf(IllegalStateException::class.java, caller.failure)
            assertContains(e.message, "capacity = 0", "jobs")
            assertState(channel, size = 0)
        }

    @Test
    fun cancel_whileItWaitsToReserve_leavesNothing() =
        runTest {
            val channel = channel(1).fill("a")
            val caller = Callers(this).call { channel.reserve() }
            caller.cancel()
            assertState(channel, size = 1)
            runCurrent()
            assertTrue(caller.isCancelled)
            assertEquals(listOf("a"), drain(channel))
            assertTrue(channel.trySend("b"))
        }

    @Test
    fun cancel_placeWasGrantedBeforeItRuns_placeGoesToTheNext() =
        runTest {
            val channel = channel(1).fill("a")
            val unlucky = Callers(this).call { channel.reserve() }
            val next = Callers(this).call { channel.send("b") }
            assertEquals("a", channel.tryReceive())
            unlucky.cancel()
            runCurrent()
            assertTrue(unlucky.isCancelled)
            assertTrue(next.isServed)
            assertEquals(listOf("b"), drain(channel))
        }

    @Test
    fun close_placeIsOpen_receiversWaitUntilItIsUsed() =
        runTest {
            val channel = channel(1)
            val place = channel.reserve()
            channel.close()
            val receivers = Receivers(this, channel)
            val first = receivers.receive()
            val second = receivers.receive()
            assertTrue(first.isWaiting && second.isWaiting)
            assertNull(channel.tryReceive())
            place.send("a")
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
            assertInstanceOf(ChannelClosedException::class.java, second.failure)
            assertThrows<ChannelClosedException> { channel.tryReceive() }
        }

    @Test
    fun close_placeIsGivenBack_receiversLearnThatItIsClosed() =
        runTest {
            val channel = channel(2)
            val places = List(2) { channel.reserve() }
            val receiver = Callers(this).call { channel.receive() }
            channel.close()
            places[0].close()
            runCurrent()
            assertTrue(receiver.isWaiting)
            places[1].close()
            runCurrent()
            assertInstanceOf(ChannelClosedException::class.java, receiver.failure)
        }

    @Test
    fun close_someWaitToReserve_failsThem() =
        runTest {
            val channel = channel(1).fill("a")
            val caller = Callers(this).call { channel.reserve() }
            channel.close()
            runCurrent()
            assertInstanceOf(ChannelClosedException::class.java, caller.failure)
            val late = Callers(this).call { channel.reserve() }
            assertInstanceOf(ChannelClosedException::class.java, late.failure)
        }

    @Test
    fun cancel_placeIsOpen_receiversDoNotWaitForIt() =
        runTest {
            val channel = channel(1)
            val place = channel.reserve()
            channel.cancel()
            assertThrows<ChannelClosedException> { channel.tryReceive() }
            val receiver = Callers(this).call { channel.receive() }
            assertInstanceOf(ChannelClosedException::class.java, receiver.failure)
            place.close()
            assertThrows<ChannelClosedException> { channel.tryReceive() }
        }

    @Test
    fun placeSend_cancelled_throwsAndDropsNothing() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onDropped = dropped::add)
            val place = channel.reserve()
            channel.cancel()
            assertThrows<ChannelClosedException> { place.send("a") }
            assertEquals(emptyList<String>(), dropped)
            assertThrows<ChannelClosedException> { channel.tryReceive() }
        }

    @Test
    fun resize_belowThePlacesKept_theyCanStillBeUsed() =
        runTest {
            val channel = channel(2)
            val places = List(2) { channel.reserve() }
            channel.resize(0)
            for ((i, place) in places.withIndex()) place.send("$i")
            assertState(channel, size = 2)
            assertFalse(channel.trySend("c"))
            assertEquals(listOf("0", "1"), drain(channel))
        }

    @Test
    fun toString_ofAPlace_saysWhetherItIsOpen() =
        runTest {
            val place = channel(1, name = "jobs").reserve()
            assertContains("$place", "open", "jobs")
            place.close()
            assertContains("$place", "spent")
        }
}
