package baton.channels.contract

import baton.channels.Channel
import baton.waiting.Callers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A cancelled caller throws and has sent or received nothing, at whatever moment it was cancelled. */
interface ChannelCancellation : ChannelFixture {
    @Test
    fun cancelReceiver_whileItWaits_leavesNothing() =
        runTest {
            val channel = channel(1)
            val receiver = Callers(this).call { channel.receive() }
            receiver.cancel()
            assertState(channel, size = 0, waiting = 0)
            runCurrent()
            assertTrue(receiver.isCancelled)
            channel.fill("a")
            assertEquals("a", channel.tryReceive())
        }

    @Test
    fun cancelSender_whileItWaits_elementWasNotSent() =
        runTest {
            for (capacity in 0..1) {
                val channel = channel(capacity).fill(*Array(capacity) { "a" })
                val sender = Callers(this).call { channel.send("b") }
                sender.cancel()
                assertState(channel, size = capacity, waiting = 0)
                runCurrent()
                assertTrue(sender.isCancelled)
                assertEquals(List(capacity) { "a" }, drain(channel))
            }
        }

    @Test
    fun cancel_anyOneOfFiveReceivers_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val channel = channel(1)
                val callers = Callers(this)
                val waiters = List(5) { i -> callers.call("$i") { channel.receive() } }
                waiters[leaver].cancel()
                assertState(channel, size = 0, waiting = 4)
                repeat(4) {
                    channel.fill("$it")
                    runCurrent()
                }
                assertEquals((0..4).filter { it != leaver }.map { "$it" }, callers.served)
                assertState(channel, size = 0)
            }
        }

    @Test
    fun cancel_anyOneOfFiveSenders_keepsTheOrderOfTheOthers() =
        runTest {
            for (leaver in 0..4) {
                val channel = channel(1).fill("full")
                val callers = Callers(this)
                val waiters = List(5) { i -> callers.call("$i") { channel.send("$i") } }
                waiters[leaver].cancel()
                assertState(channel, size = 1, waiting = 4)
                assertEquals(listOf("full") + (0..4).filter { it != leaver }.map { "$it" }, drain(channel))
            }
        }

    @Test
    fun receiver_gotItsElementAndIsCancelledBeforeItRuns_elementGoesToTheNext() =
        runTest {
            for (capacity in listOf(0, 1, Channel.UNLIMITED)) {
                val channel = channel(capacity)
                val receivers = Receivers(this, channel)
                val unlucky = receivers.receive()
                val next = receivers.receive()
                channel.fill("a")
                unlucky.cancel()
                runCurrent()
                assertTrue(unlucky.isCancelled)
                assertTrue(next.isServed)
                assertEquals(listOf("a"), receivers.got)
                assertState(channel, size = 0)
            }
        }

    @Test
    fun receiver_gotItsElementAndIsCancelledBeforeItRuns_elementGoesBackToTheHead() =
        runTest {
            val channel = channel(2)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a", "b", "c")
            unlucky.cancel()
            runCurrent()
            assertState(channel, size = 3)
            assertEquals(listOf("a", "b", "c"), drain(channel))
        }

    @Test
    fun rendezvous_receiverIsCancelledBeforeItRuns_elementStaysInside() =
        runTest {
            val channel = channel()
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a")
            unlucky.cancel()
            runCurrent()
            assertState(channel, size = 1)
            val sender = Callers(this).call { channel.send("b") }
            assertTrue(sender.isWaiting)
            assertEquals("a", channel.tryReceive())
            Receivers(this, channel).receive()
            assertTrue(sender.isServed)
            assertState(channel, size = 0)
        }

    @Test
    fun receivers_allCancelledBeforeTheyRun_elementsAreBackInTheirOrder() =
        runTest {
            for (order in listOf(listOf(0, 1, 2), listOf(2, 1, 0), listOf(1, 2, 0), listOf(1, 0, 2))) {
                val channel = channel(1)
                val waiters = List(3) { Receivers(this, channel).receive() }
                channel.fill("a", "b", "c", "d")
                for (i in order) waiters[i].cancel()
                runCurrent()
                assertTrue(waiters.all { it.isCancelled })
                assertEquals(listOf("a", "b", "c", "d"), drain(channel))
            }
        }

    @Test
    fun elementGivenBack_channelIsFull_noSenderComesInBeforeItIsReceived() =
        runTest {
            val channel = channel(1)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a", "b")
            val sender = Callers(this).callAtOnce { channel.send("c") }
            unlucky.cancel()
            runCurrent()
            assertState(channel, size = 2, waiting = 1)
            assertEquals("a", channel.tryReceive())
            runCurrent()
            assertTrue(sender.isWaiting)
            assertEquals("b", channel.tryReceive())
            runCurrent()
            assertTrue(sender.isServed)
            assertEquals("c", channel.tryReceive())
        }

    @Test
    fun sender_servedAndCancelledBeforeItRuns_sentIfAndOnlyIfItDidNotThrow() =
        runTest {
            for (capacity in 1..2) {
                val channel = channel(capacity).fill(*Array(capacity) { "$it" })
                val unlucky = Callers(this).call { channel.send("unlucky") }
                val next = Callers(this).call { channel.send("next") }
                assertEquals("0", channel.tryReceive())
                unlucky.cancel()
                runCurrent()
                val sent = if (unlucky.isServed) listOf("unlucky") else emptyList()
                assertTrue(unlucky.isServed || unlucky.isCancelled)
                assertEquals(listOf("0", "1").subList(1, capacity) + sent + "next", drain(channel))
                assertTrue(next.isServed)
            }
        }

    @Test
    fun rendezvousSender_servedAndCancelledBeforeItRuns_sentIfAndOnlyIfItDidNotThrow() =
        runTest {
            val channel = channel()
            val unlucky = Callers(this).callAtOnce { channel.send("unlucky") }
            val receivers = Receivers(this, channel)
            val receiver = receivers.receiveAtOnce()
            unlucky.cancel()
            runCurrent()
            if (meetInOneStep) {
                assertTrue(unlucky.isCancelled && receiver.isServed)
            } else {
                assertEquals(unlucky.isServed, receiver.isServed)
            }
            assertTrue(unlucky.isServed || unlucky.isCancelled)
            if (receiver.isWaiting) assertTrue(channel.trySend("other"))
            runCurrent()
            assertEquals(1, receivers.got.size)
            assertState(channel, size = 0)
        }

    @Test
    fun receive_inACancelledCoroutine_throwsAndDoesNotWait() =
        runTest {
            val channel = channel(1)
            val caller =
                Callers(this).call {
                    cancelThisCoroutine()
                    channel.receive()
                }
            assertTrue(caller.isCancelled)
            assertState(channel, size = 0)
        }

    @Test
    fun send_inACancelledCoroutineWithoutAPlace_throwsAndSendsNothing() =
        runTest {
            val channel = channel(1).fill("a")
            val caller =
                Callers(this).call {
                    cancelThisCoroutine()
                    channel.send("b")
                }
            assertTrue(caller.isCancelled)
            assertState(channel, size = 1)
        }

    @Test
    fun send_nonCancellable_isSentAlthoughCancelled() =
        runTest {
            val channel = channel(1).fill("a")
            val caller = Callers(this).call { withContext(NonCancellable) { channel.send("b") } }
            caller.cancel()
            runCurrent()
            assertState(channel, size = 1, waiting = 1)
            assertEquals(listOf("a", "b"), drain(channel))
        }

    @Test
    fun receive_nonCancellable_receivesAlthoughCancelled() =
        runTest {
            val channel = channel()
            val receivers = Receivers(this, channel)
            val caller = Callers(this).call { withContext(NonCancellable) { receivers.got += channel.receive() } }
            caller.cancel()
            runCurrent()
            channel.fill("a")
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
        }

    @Test
    fun receive_underATimeoutThatEnds_leavesTheElementForOthers() =
        runTest {
            val channel = channel(1)
            assertNull(withTimeoutOrNull(50) { channel.receive() })
            assertState(channel, size = 0)
            channel.fill("a")
            assertEquals("a", channel.receive())
        }

    @Test
    fun cancel_allWaitersOfBothKinds_leavesNothing() =
        runTest {
            val channel = channel(2)
            val receivers = List(10) { Callers(this).call { channel.receive() } }
            receivers.forEach { it.cancel() }
            channel.fill("a", "b")
            val senders = List(10) { Callers(this).call { channel.send("$it") } }
            senders.reversed().forEach { it.cancel() }
            runCurrent()
            assertTrue((receivers + senders).all { it.isCancelled })
            assertState(channel, size = 2)
            assertEquals(listOf("a", "b"), drain(channel))
        }
}

internal suspend fun cancelThisCoroutine() {
    currentCoroutineContext().job.cancel()
}
