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
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Waiting for a limited time, in virtual time. */
interface ChannelTimeouts : ChannelFixture {
    override val hasVirtualTime: Boolean get() = true

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
