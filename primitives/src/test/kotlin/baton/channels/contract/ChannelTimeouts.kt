package baton.channels.contract

import baton.NOW_OR_NEVER
import baton.channels.ChannelClosedException
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Waiting for a limited time, in virtual time. */
interface ChannelTimeouts : ChannelFixture {
    @Test
    fun timed_nothingToWaitFor_answersAtOnce() =
        runTest {
            val channel = channel(1)
            assertTrue(channel.trySend("a", 50.milliseconds))
            assertEquals("a", channel.tryReceive(50.milliseconds))
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_zeroOrNegative_isNowOrNotAtAll() =
        runTest {
            val channel = channel(1)
            for (timeout in NOW_OR_NEVER) {
                assertNull(channel.tryReceive(timeout))
                assertTrue(channel.trySend("a", timeout))
                assertFalse(channel.trySend("b", timeout))
                assertEquals("a", channel.tryReceive(timeout))
                assertEquals(0, currentTime)
                assertState(channel, size = 0)
            }
        }

    @Test
    fun tryReceive_nobodySends_givesUpAtTheDeadline() =
        runTest {
            val channel = channel(1)
            assertNull(channel.tryReceive(50.milliseconds))
            assertEquals(50, currentTime)
            assertState(channel, size = 0)
        }

    @Test
    fun tryReceive_sentBeforeTheDeadline_receivesThen() =
        runTest {
            val channel = channel()
            launch {
                delay(49)
                channel.send("a")
            }
            assertEquals("a", channel.tryReceive(50.milliseconds))
            assertEquals(49, currentTime)
        }

    @Test
    fun tryReceive_sentAfterTheDeadline_elementStays() =
        runTest {
            val channel = channel(1)
            launch {
                delay(51)
                channel.send("a")
            }
            assertNull(channel.tryReceive(50.milliseconds))
            advanceTimeBy(2)
            assertEquals("a", channel.tryReceive())
        }

    @Test
    fun trySend_nobodyReceives_givesUpAndSendsNothing() =
        runTest {
            for (capacity in 0..1) {
                val start = currentTime
                val channel = channel(capacity).fill(*Array(capacity) { "full" })
                assertFalse(channel.trySend("a", 50.milliseconds))
                assertEquals(50, currentTime - start)
                assertEquals(List(capacity) { "full" }, drain(channel))
            }
        }

    @Test
    fun trySend_placeBeforeTheDeadline_sendsThen() =
        runTest {
            val channel = channel(1).fill("a")
            launch {
                delay(49)
                channel.receive()
            }
            assertTrue(channel.trySend("b", 50.milliseconds))
            assertEquals(49, currentTime)
            runCurrent()
            assertEquals(listOf("b"), drain(channel))
        }

    @Test
    fun timed_infinite_waitsOn() =
        runTest {
            val channel = channel()
            val sender = Callers(this).call { channel.trySend("a", Duration.INFINITE) }
            advanceTimeBy(Int.MAX_VALUE.toLong())
            assertTrue(sender.isWaiting)
            assertEquals("a", channel.tryReceive(Duration.INFINITE))
            runCurrent()
            assertTrue(sender.isServed)
        }

    @Test
    fun timed_closedMeanwhile_throwsAtOnce() =
        runTest {
            val channel = channel()
            val receiver = Callers(this).call { channel.tryReceive(50.milliseconds) }
            channel.close()
            runCurrent()
            assertInstanceOf(ChannelClosedException::class.java, receiver.failure)
            val sender = Callers(this).call { channel.trySend("a", 50.milliseconds) }
            assertInstanceOf(ChannelClosedException::class.java, sender.failure)
            assertEquals(0, currentTime)
        }

    @Test
    fun timed_cancelledWhileWaiting_leavesNothing() =
        runTest {
            val channel = channel(1)
            val receiver = Callers(this).call { channel.tryReceive(50.milliseconds) }
            receiver.cancel()
            runCurrent()
            assertTrue(receiver.isCancelled)
            channel.fill("a")
            val sender = Callers(this).call { channel.trySend("b", 50.milliseconds) }
            sender.cancel()
            runCurrent()
            assertTrue(sender.isCancelled)
            assertEquals(0, currentTime)
            assertEquals(listOf("a"), drain(channel))
        }

    @Test
    fun timed_oneInTheMiddleGivesUp_theOthersKeepTheirOrder() =
        runTest {
            val channel = channel()
            val callers = Callers(this)
            callers.call("a") { channel.receive() }
            callers.call("b") { channel.tryReceive(10.milliseconds) ?: false }
            callers.call("c") { channel.receive() }
            advanceTimeBy(20)
            assertState(channel, size = 0, waiting = 2)
            channel.fill("1", "2")
            runCurrent()
            assertEquals(listOf("a", "c"), callers.served)
        }

    @Test
    fun timed_pollsAtTheVeryRhythmOfTheSender_losesNothing() =
        runTest {
            val channel = channel()
            val producer =
                launch {
                    for (i in 1..100) {
                        delay(3)
                        channel.send("$i")
                    }
                    channel.close()
                }
            val received = mutableListOf<String>()
            try {
                while (true) received += channel.tryReceive(3.milliseconds) ?: continue
            } catch (_: ChannelClosedException) {
                producer.join()
            }
            assertEquals((1..100).map { "$it" }, received)
        }
}
