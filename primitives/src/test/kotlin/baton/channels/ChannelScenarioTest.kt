package baton.channels

import baton.waiting.Callers
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withTimeoutOrNull
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class ChannelScenarioTest {
    /** kotlinx.coroutines #2826: an element that had been received was also reported as undelivered. */
    @Test
    fun receive_cancelledAfterwards_elementIsNotDroppedToo() =
        runTest {
            val dropped = mutableListOf<Int>()
            val received = mutableListOf<Int>()
            val channel = Channel<Int>(1, onDropped = dropped::add)
            val receiver =
                launch(Dispatchers.Unconfined) {
                    received += channel.receive()
                    delay(1_000)
                }
            channel.send(1)
            receiver.cancel()
            channel.cancel()
            assertEquals(listOf(1) to emptyList<Int>(), received to dropped)
        }

    /**
     * kotlinx.coroutines #504, #1411: two selects over the same channels, each the other way round, spun or overflowed.
     */
    @Test
    fun select_twoOverTheSameChannelsInOppositeOrder_goOnWithoutEnd() =
        runTest {
            for (context in listOf(Dispatchers.Unconfined, EmptyCoroutineContext)) {
                val one = Channel<Int>()
                val two = Channel<Int>()
                val meetings = IntArray(2)
                val jobs =
                    List(2) { me ->
                        launch(context, CoroutineStart.UNDISPATCHED) {
                            val (mine, others) = if (me == 0) one to two else two to one
                            repeat(10_000) {
                                select {
                                    mine.onSend(it) { meetings[me]++ }
                                    others.onReceive { meetings[me]++ }
                                }
                            }
                        }
                    }
                joinAll(*jobs.toTypedArray())
                assertEquals(listOf(10_000, 10_000), meetings.toList())
                assertEquals(0, one.waiting + two.waiting)
            }
        }

    /** tokio PR #2854, #3215: a permit that was dropped unused after close never let the receiver end. */
    @Test
    fun close_placeReservedAndGivenBack_iterationEnds() =
        runTest {
            val channel = Channel<Int>(2)
            val place = channel.reserve()
            channel.send(1)
            val got = mutableListOf<Int>()
            val loop = Callers(this).call { for (element in channel) got += element }
            channel.close()
            runCurrent()
            assertTrue(loop.isWaiting)
            place.close()
            runCurrent()
            assertTrue(loop.isServed)
            assertEquals(listOf(1), got)
        }

    /** tokio #7714: an element sent into a reserved place after the receiver was gone stuck in the channel. */
    @Test
    fun placeSend_receiverIsGone_throwsOrIsDropped() =
        runTest {
            val dropped = mutableListOf<Int>()
            val channel = Channel<Int>(1, onDropped = dropped::add)
            val closed = channel.reserve()
            channel.close()
            closed.send(1)
            channel.cancel()
            assertEquals(listOf(1), dropped)
            val other = Channel<Int>(1, onDropped = dropped::add)
            val cancelled = other.reserve()
            other.cancel()
            assertThrows(ChannelClosedException::class.java) { cancelled.send(2) }
            assertEquals(listOf(1), dropped)
            assertEquals(0, channel.size + other.size)
        }

    /** futures-rs #909: try_send succeeded while the receiver closed, and no receiver ever got the element. */
    @Test
    fun trySend_succeedsBeforeTheEnd_elementIsReceivedOrDropped() =
        runTest {
            for (receiverWaits in listOf(true, false)) {
                val seen = mutableListOf<Int>()
                val channel = Channel<Int>(1, onDropped = seen::add)
                val receiver = if (receiverWaits) Callers(this).call { seen += channel.receive() } else null
                assertTrue(channel.trySend(1).isSuccess)
                channel.cancel()
                assertTrue(channel.trySend(2).isClosed)
                runCurrent()
                assertEquals(listOf(1), seen)
                assertEquals(receiverWaits, receiver?.isServed == true)
            }
        }

    /**
     * python/asyncio #343, cpython #112202: a timeout around the get swallowed the item that came at that very moment.
     */
    @Test
    fun receive_underATimeoutAsLongAsTheSendersPeriod_losesNothing() =
        runTest {
            val channel = Channel<Int>(Channel.UNLIMITED)
            val producer =
                launch {
                    repeat(100) {
                        delay(3_000)
                        channel.send(it)
                    }
                    channel.close()
                }
            val got = mutableListOf<Int>()
            while (!channel.isClosed || channel.size > 0) {
                // The timeout covers the receive alone. Around the processing, it would drop the caller's own element.
                withTimeoutOrNull(3_000) { channel.receiveOrNull()?.let(got::add) }
            }
            producer.join()
            assertEquals((0..99).toList(), got)
        }

    /** anyio PR #1075: the notification that a cancelled waiter had got was lost for the others. */
    @Test
    fun receiver_cancelledInTheMomentOfItsElement_wakesTheNext() =
        runTest {
            val got = mutableListOf<Int>()
            val channel = Channel<Int>()
            val receivers = List(10) { Callers(this).call { got += channel.receive() } }
            channel.trySend(7)
            for (receiver in receivers.dropLast(1)) receiver.cancel()
            runCurrent()
            assertEquals(listOf(7), got)
        }

    /**
     * vs-threading #458: a dequeue was cancelled under the queue's lock, and its continuation ran inline and came back.
     */
    @Test
    fun cancel_continuationRunsInlineAndUsesTheChannel_meetsNoLock() {
        val channel = Channel<Int>(1)
        val job = Job()
        val seen = mutableListOf<String>()
        suspend {
            try {
                channel.receive()
            } finally {
                seen += "${channel.trySend(1).isSuccess} ${channel.size} ${channel.close()}"
            }
        }.startCoroutine(Continuation(job) { })
        job.cancel()
        assertEquals(listOf("true 1 true"), seen)
    }

    /** Go, kotlinx: a sender that was admitted by the receiver it then waits for must not find its own element. */
    @Test
    fun send_thenReceiveOnOneRendezvousChannel_twoSwapTheirElements() =
        runTest {
            val channel = Channel<String>()
            val log = mutableListOf<String>()
            for (name in listOf("a", "b")) {
                launch {
                    if (name == "a") channel.send(name)
                    log += "$name got ${channel.receive()}"
                    if (name == "b") channel.send(name)
                }
            }
            runCurrent()
            assertEquals(setOf("a got b", "b got a"), log.toSet())
            assertNull(channel.tryReceive().getOrNull())
        }

    /** A worker pool that is cancelled as a whole leaves every job it had not begun in the channel. */
    @Test
    fun workers_cancelledTogether_whatTheyHadNotBegunStays() =
        runTest {
            val channel = Channel<Int>(10)
            val begun = mutableListOf<Int>()
            val pool =
                launch {
                    repeat(3) {
                        launch {
                            for (job in channel) {
                                begun += job
                                delay(10)
                            }
                        }
                    }
                }
            runCurrent()
            repeat(10) { channel.send(it) }
            runCurrent()
            repeat(3) { channel.trySend(10 + it) }
            delay(10)
            pool.cancelAndJoin()
            val left = generateSequence { channel.tryReceive().getOrNull() }.toList()
            assertEquals((0..12).toList(), (begun + left).sorted())
            assertFalse(begun.isEmpty() || left.isEmpty())
        }
}
