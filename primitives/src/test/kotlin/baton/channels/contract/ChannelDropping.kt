package baton.channels.contract

import baton.Priority
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [OnFull.DROP_OLDEST] and [OnFull.DROP_LATEST]: no sender waits for a place. */
interface ChannelDropping : ChannelFixture {
    @Test
    fun dropOldest_full_oldestMakesRoom() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(2, onFull = OnFull.DROP_OLDEST, onDropped = dropped::add)
            for (element in listOf("a", "b", "c", "d")) {
                assertTrue(Callers(this).callAtOnce { channel.send(element) }.isServed)
            }
            assertEquals(listOf("a", "b"), dropped)
            assertEquals(listOf("c", "d"), drain(channel))
        }

    @Test
    fun dropLatest_full_newElementIsDropped() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(2, onFull = OnFull.DROP_LATEST, onDropped = dropped::add)
            for (element in listOf("a", "b", "c", "d")) {
                assertTrue(Callers(this).callAtOnce { channel.send(element) }.isServed)
            }
            assertEquals(listOf("c", "d"), dropped)
            assertEquals(listOf("a", "b"), drain(channel))
        }

    @Test
    fun trySend_fullAndDropping_succeeds() {
        for (onFull in listOf(OnFull.DROP_OLDEST, OnFull.DROP_LATEST)) {
            val channel = channel(1, onFull = onFull).fill("a")
            assertTrue(channel.trySend("b"))
            assertEquals(if (onFull == OnFull.DROP_OLDEST) "b" else "a", channel.tryReceive())
            assertNull(channel.tryReceive())
        }
    }

    @Test
    fun conflated_receiverComesLate_getsTheLatest() =
        runTest {
            val channel = channel(1, onFull = OnFull.DROP_OLDEST)
            for (i in 1..100) channel.send("$i")
            assertEquals("100", channel.receive())
            assertState(channel, size = 0)
        }

    @Test
    fun dropping_receiverWaits_nothingIsDropped() =
        runTest {
            for (onFull in listOf(OnFull.DROP_OLDEST, OnFull.DROP_LATEST)) {
                for (capacity in 0..1) {
                    val dropped = mutableListOf<String>()
                    val channel = channel(capacity, onFull = onFull, onDropped = dropped::add)
                    val receivers = Receivers(this, channel)
                    receivers.receive()
                    channel.send("a")
                    runCurrent()
                    assertEquals(listOf("a"), receivers.got)
                    assertEquals(emptyList<String>(), dropped)
                }
            }
        }

    @Test
    fun dropping_noRoomAtAll_dropsWhatNobodyWaitsFor() =
        runTest {
            for (onFull in listOf(OnFull.DROP_OLDEST, OnFull.DROP_LATEST)) {
                val dropped = mutableListOf<String>()
                val channel = channel(0, onFull = onFull, onDropped = dropped::add)
                channel.send("a")
                channel.send("b")
                assertEquals(listOf("a", "b"), dropped)
                assertState(channel, size = 0)
            }
        }

    @Test
    fun dropOldest_priority_lowestLevelGoesFirst() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(3, ChannelOrder.PRIORITY, OnFull.DROP_OLDEST, onDropped = dropped::add)
            channel.send("low 1", Priority.LOW)
            channel.send("high 1", Priority.HIGH)
            channel.send("low 2", Priority.LOW)
            channel.send("high 2", Priority.HIGH)
            channel.send("critical", Priority.CRITICAL)
            assertEquals(listOf("low 1", "low 2"), dropped)
            channel.send("idle", Priority.IDLE)
            assertEquals(listOf("low 1", "low 2", "idle"), dropped)
            channel.send("high 3", Priority.HIGH)
            assertEquals(listOf("low 1", "low 2", "idle", "high 1"), dropped)
            assertEquals(listOf("critical", "high 2", "high 3"), drain(channel))
        }

    @Test
    fun dropLatest_priority_dropsEvenTheMostUrgent() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, ChannelOrder.PRIORITY, OnFull.DROP_LATEST, onDropped = dropped::add)
            channel.send("idle", Priority.IDLE)
            channel.send("critical", Priority.CRITICAL)
            assertEquals(listOf("critical"), dropped)
        }

    @Test
    fun dropOldest_elementIsGivenBackToAFullChannel_oldestIsDropped() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onFull = OnFull.DROP_OLDEST, onDropped = dropped::add)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a", "b")
            unlucky.cancel()
            runCurrent()
            assertEquals(listOf("a"), dropped)
            assertEquals(listOf("b"), drain(channel))
        }

    @Test
    fun dropLatest_elementIsGivenBackToAFullChannel_isKept() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onFull = OnFull.DROP_LATEST, onDropped = dropped::add)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a", "b")
            unlucky.cancel()
            runCurrent()
            assertEquals(emptyList<String>(), dropped)
            assertEquals(listOf("a", "b"), drain(channel))
        }

    @Test
    fun dropping_closed_sendThrowsAndDropsNothing() =
        runTest {
            for (onFull in listOf(OnFull.DROP_OLDEST, OnFull.DROP_LATEST)) {
                val dropped = mutableListOf<String>()
                val channel = channel(1, onFull = onFull, onDropped = dropped::add).fill("a")
                channel.close()
                val sender = Callers(this).call { channel.send("b") }
                assertInstanceOf(ChannelClosedException::class.java, sender.failure)
                assertEquals(emptyList<String>(), dropped)
                assertEquals(listOf("a"), drain(channel))
            }
        }

    @Test
    fun dropOldest_shrunk_nextSendDropsTheSurplus() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(4, onFull = OnFull.DROP_OLDEST, onDropped = dropped::add).fill("a", "b", "c", "d")
            channel.resize(2)
            assertState(channel, size = 4)
            assertEquals(emptyList<String>(), dropped)
            channel.fill("e")
            assertEquals(listOf("a", "b", "c"), dropped)
            assertEquals(listOf("d", "e"), drain(channel))
        }

    @Test
    fun dropping_closedWithAnUnusedPlace_isDrained() =
        runTest {
            for (onFull in OnFull.entries - OnFull.SUSPEND) {
                val channel = channel(1, onFull = onFull).fill("a")
                channel.reserve()
                channel.close()
                assertEquals("a", channel.receive())
                val receiver = Callers(this).call { channel.receive() }
                assertInstanceOf(ChannelClosedException::class.java, receiver.failure) { "$receiver" }
            }
        }

    @Test
    fun dropping_reserve_neverWaitsAndKeepsNoPlace() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onFull = OnFull.DROP_OLDEST, onDropped = dropped::add)
            val places = List(3) { channel.reserve() }
            channel.fill("a")
            assertState(channel, size = 1)
            for ((i, place) in places.withIndex()) place.send("$i")
            assertEquals(listOf("a", "0", "1"), dropped)
            assertEquals(listOf("2"), drain(channel))
        }
}
