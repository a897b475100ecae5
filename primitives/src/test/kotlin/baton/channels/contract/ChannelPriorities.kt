package baton.channels.contract

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [ChannelOrder.PRIORITY]. */
interface ChannelPriorities : ChannelFixture {
    private fun prioritized(capacity: Int) = channel(capacity, ChannelOrder.PRIORITY)

    @Test
    fun priority_allLevelsInside_mostUrgentComesFirst() =
        runTest {
            val channel = prioritized(5)
            for (level in Priority.entries.reversed()) channel.send("$level", level)
            assertEquals(Priority.entries.map { "$it" }, drain(channel))
        }

    @Test
    fun priority_sameLevel_isFirstSentFirstReceived() =
        runTest {
            val channel = prioritized(6)
            for (i in 1..3) {
                channel.send("low $i", Priority.LOW)
                channel.send("high $i", Priority.HIGH)
            }
            assertEquals(listOf("high 1", "high 2", "high 3", "low 1", "low 2", "low 3"), drain(channel))
        }

    @Test
    fun priority_noneGiven_isThatOfTheContext() =
        runTest {
            val channel = prioritized(3)
            channel.send("normal")
            withContext(Priority.HIGH) { channel.send("high") }
            withContext(Priority.LOW) { channel.send("low") }
            assertEquals(listOf("high", "normal", "low"), drain(channel))
        }

    @Test
    fun priority_given_goesBeforeThatOfTheContext() =
        runTest {
            val channel = prioritized(2)
            withContext(Priority.CRITICAL) { channel.send("idle", Priority.IDLE) }
            channel.send("normal")
            assertEquals(listOf("normal", "idle"), drain(channel))
        }

    @Test
    fun priority_trySendWithoutLevel_isNormal() =
        runTest {
            val channel = prioritized(3).fill("normal")
            channel.trySend("high", Priority.HIGH)
            channel.trySend("low", Priority.LOW)
            assertEquals(listOf("high", "normal", "low"), drain(channel))
        }

    @Test
    fun priority_sendersWait_mostUrgentComesInFirst() =
        runTest {
            for (capacity in 0..1) {
                val channel = prioritized(capacity).fill(*Array(capacity) { "inside" })
                val callers = Callers(this)
                for (level in Priority.entries.reversed()) callers.call("$level", level) { channel.send("$level") }
                assertState(channel, size = capacity, waiting = 5)
                val receivers = Receivers(this, channel)
                repeat(5 + capacity) { receivers.receive() }
                assertEquals(List(capacity) { "inside" } + Priority.entries.map { "$it" }, receivers.got)
                assertEquals(Priority.entries.map { "$it" }, callers.served)
            }
        }

    @Test
    fun priority_urgentSenderWaitsBehindIdleOnesInside_whatIsInsideGoesFirst() =
        runTest {
            val channel = prioritized(2)
            channel.send("idle 1", Priority.IDLE)
            channel.send("idle 2", Priority.IDLE)
            Callers(this).call { channel.send("critical", Priority.CRITICAL) }
            assertEquals("idle 1", channel.tryReceive())
            runCurrent()
            assertEquals(listOf("critical", "idle 2"), drain(channel))
        }

    @Test
    fun priority_receivers_areServedInTheOrderTheyCame() =
        runTest {
            val channel = prioritized(0)
            val callers = Callers(this)
            for (level in Priority.entries.reversed()) callers.call("$level", level) { channel.receive() }
            repeat(5) {
                channel.trySend("$it")
                runCurrent()
            }
            assertEquals(Priority.entries.reversed().map { "$it" }, callers.served)
        }

    @Test
    fun priority_urgentOnesFloodTheChannel_noLevelStarves() =
        runTest {
            val channel = prioritized(Channel.UNLIMITED)
            for (level in Priority.entries.drop(1)) channel.trySend("$level", level)
            repeat(2_000) { channel.trySend("critical", Priority.CRITICAL) }
            val received = drain(channel)
            for ((level, bound) in listOf("HIGH" to 64, "NORMAL" to 128, "LOW" to 256, "IDLE" to 512)) {
                val at = received.indexOf(level)
                assertTrue(at in bound..bound + 3, "$level came at $at")
            }
        }

    @Test
    fun priority_urgentSendersFloodTheLine_noLevelStarves() =
        runTest {
            val channel = prioritized(1).fill("first")
            val callers = Callers(this)
            for (level in Priority.entries.drop(1)) callers.callAtOnce { channel.send("$level", level) }
            repeat(600) { callers.callAtOnce { channel.send("critical", Priority.CRITICAL) } }
            val received = drain(channel)
            for ((level, bound) in listOf("HIGH" to 64, "NORMAL" to 128, "LOW" to 256, "IDLE" to 512)) {
                val at = received.indexOf(level) - 1
                // Once it is buffered, it is the next in the queue as long as an urgent one is buffered after it.
                assertTrue(at >= bound, "$level came at $at")
                assertTrue(at <= bound + 3 + 512, "$level came at $at")
            }
        }

    @Test
    fun priority_elementGivenBack_comesFirstWhateverItsLevel() =
        runTest {
            val channel = prioritized(2)
            val unlucky = Receivers(this, channel).receive()
            channel.trySend("idle", Priority.IDLE)
            channel.trySend("critical", Priority.CRITICAL)
            unlucky.cancel()
            runCurrent()
            assertEquals(listOf("idle", "critical"), drain(channel))
        }

    @Test
    fun priority_cancelOfAnUrgentSender_letsTheNextLevelIn() =
        runTest {
            val channel = prioritized(1).fill("inside")
            val urgent = Callers(this).call { channel.send("urgent", Priority.CRITICAL) }
            val other = Callers(this).call { channel.send("other", Priority.IDLE) }
            urgent.cancel()
            runCurrent()
            assertEquals(listOf("inside", "other"), drain(channel))
            assertTrue(other.isServed)
        }

    @Test
    fun priority_reservation_hasTheLevelOfWhoReservedOrItsOwn() =
        runTest {
            val channel = prioritized(3)
            val high = withContext(Priority.HIGH) { channel.reserve() }
            val low = withContext(Priority.HIGH) { channel.reserve() }
            channel.send("normal")
            low.send("low", Priority.LOW)
            high.send("high")
            assertEquals(listOf("high", "normal", "low"), drain(channel))
        }
}
