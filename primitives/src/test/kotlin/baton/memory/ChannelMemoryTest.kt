package baton.memory

import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.Reservation
import baton.sync.StepDispatcher
import baton.waiting.Enough
import baton.waiting.waitUntilKept
import java.lang.ref.WeakReference
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A channel retains its elements and its waiters, and nothing else. */
class ChannelMemoryTest {
    private fun parkAndCancel(count: Int, call: suspend () -> Unit) =
        List(count) { park(request = call) }.forEach { it.cancel(Enough) }

    private fun assertLeavesNothing(channel: Channel<Any>, count: Int = MANY, run: (count: Int) -> Unit) {
        assertLeavesNothing(count, run)
        assertEquals(0, channel.waiting)
    }

    @Test
    fun manyCancelledReceivers_leaveNoMemoryBehind() {
        val channel = Channel<Any>()
        assertLeavesNothing(channel, CANCELLED) { count -> parkAndCancel(count) { channel.receive() } }
    }

    @Test
    fun manyCancelledSenders_leaveNoMemoryBehind() {
        for ((order, count) in listOf(ChannelOrder.FIFO to CANCELLED, ChannelOrder.PRIORITY to MANY)) {
            val channel = Channel<Any>(1, order).also { it.trySend(0) }
            assertLeavesNothing(channel, count) { parkAndCancel(it) { channel.send(Any()) } }
        }
    }

    @Test
    fun manyElementsAtOnce_leaveNoMemoryBehind() {
        for (order in ChannelOrder.entries) {
            val channel = Channel<Any>(Channel.UNLIMITED, order)
            assertLeavesNothing(channel) { count ->
                repeat(count) { channel.trySend(it) }
                repeat(count) { channel.tryReceive() }
            }
        }
    }

    @Test
    fun elementsGivenBackAtOnce_leaveNoMemoryBehind() {
        val channel = Channel<Any>()
        assertLeavesNothing(channel) { count ->
            val dispatcher = StepDispatcher()
            val jobs = List(count) { park(dispatcher) { channel.receive() } }
            while (dispatcher.step()) continue
            repeat(count) { channel.trySend(it) }
            jobs.forEach { it.cancel(Enough) }
            while (dispatcher.step()) continue
            assertEquals(count, channel.size)
            repeat(count) { channel.tryReceive() }
        }
    }

    @Test
    fun manyReservations_leaveNoMemoryBehind() {
        val channel = Channel<Any>(1)
        assertLeavesNothing(channel) { count ->
            runBlocking {
                repeat(count) {
                    channel.reserve().close()
                    channel.reserve().send(it)
                    channel.receive()
                }
            }
        }
    }

    /** The only references of a live coroutine to the objects it has used, until the test clears them. */
    private class Ends(channel: Channel<Any>, vararg offers: Any) {
        var channel: Channel<Any>? = channel
        private val offers = ArrayDeque(offers.toList())

        fun next(): Any = offers.removeFirst()

        suspend fun send() = channel!!.send(next())

        suspend fun receive() {
            channel!!.receive()
        }
    }

    private fun weak(vararg objects: Any) = objects.map(::WeakReference)

    @Test
    fun idleChannel_doesNotRetainTheLastElement() {
        for (order in ChannelOrder.entries) {
            for (capacity in listOf(1, 2, 100)) {
                val channel = Channel<Any>(capacity, order)
                assertCollected(List(70) { through(channel) })
                assertEquals(0, channel.size)
            }
        }
    }

    private fun through(channel: Channel<Any>): WeakReference<Any> {
        channel.trySend(Any())
        return WeakReference(channel.tryReceive().getOrThrow())
    }

    @Test
    fun idleChannel_doesNotRetainWhatItDropped() {
        val channel = Channel<Any>(1, onFull = OnFull.DROP_OLDEST)
        val seen = List(70) { sentTo(channel) }
        channel.trySend(0)
        assertCollected(seen)
        assertEquals(1, channel.size)
    }

    @Test
    fun cancelledChannel_retainsNothingItHeld() {
        val channel = Channel<Any>(100)
        val seen = List(70) { sentTo(channel) }
        channel.cancel()
        assertCollected(seen)
        assertTrue(channel.isClosed)
    }

    private fun sentTo(channel: Channel<Any>): WeakReference<Any> {
        val element = Any()
        channel.trySend(element)
        return WeakReference(element)
    }

    /** The coroutines live on, and wait for something else; the cancelled coroutine has given its element back. */
    @Test
    fun coroutinesThatLiveOn_retainNeitherTheirElementsNorTheChannel() {
        for (context in listOf(Dispatchers.Unconfined, Dispatchers.Default)) {
            val gate = CompletableDeferred<Unit>()
            val jobs = mutableListOf<Job>()
            assertCollected(runBlocking { usedByMany(context, gate, jobs) })
            gate.complete(Unit)
            runBlocking { jobs.joinAll() }
        }
    }

    private suspend fun usedByMany(
        context: CoroutineContext,
        gate: CompletableDeferred<Unit>,
        jobs: MutableList<Job>,
    ): List<WeakReference<Any>> {
        val channel = Channel<Any>()
        val offers = List(3) { Any() }
        val receiving = Ends(channel)
        val sending = Ends(channel, offers[0], offers[1])
        val done = List(2) { CompletableDeferred<Unit>() }
        jobs +=
            GlobalScope.launch(context) {
                waitUntilKept()
                repeat(2) { receiving.receive() }
                done[0].complete(Unit)
                gate.await()
            }
        jobs +=
            GlobalScope.launch(context) {
                waitUntilKept()
                repeat(2) { sending.send() }
                done[1].complete(Unit)
                gate.await()
            }
        done.awaitAll()
        receiving.channel = null
        sending.channel = null
        coroutineScope {
            val unlucky = launch(start = CoroutineStart.UNDISPATCHED) { channel.receive() }
            check(channel.trySend(offers[2]).isSuccess)
            unlucky.cancel()
        }
        check(channel.size == 1)
        return weak(channel, offers[0], offers[1], offers[2])
    }

    @Test
    fun selectThatLivesOn_retainsNeitherWhatItOfferedNorWhatItReceived() {
        val gate = CompletableDeferred<Unit>()
        val jobs = mutableListOf<Job>()
        assertCollected(usedBySelect(gate, jobs))
        gate.complete(Unit)
        assertTrue(jobs.single().isCompleted)
    }

    private fun usedBySelect(gate: CompletableDeferred<Unit>, jobs: MutableList<Job>): List<WeakReference<Any>> {
        val element = Any()
        val offer = Any()
        val one = Ends(Channel())
        val two = Ends(Channel(), offer)
        jobs +=
            GlobalScope.launch(Dispatchers.Unconfined) {
                receiveOrSend(one, two)
                gate.await()
            }
        check(one.channel!!.trySend(element).isSuccess)
        return weak(one.channel!!, two.channel!!, element, offer).also {
            one.channel = null
            two.channel = null
        }
    }

    private suspend fun receiveOrSend(one: Ends, two: Ends) =
        select<Unit> {
            one.channel!!.onReceive {}
            two.channel!!.onSend(two.next()) {}
        }

    @Test
    fun reservationThatWasUsed_retainsNothingItSent() {
        val channel = Channel<Any>(1)
        val (place, element) = runBlocking { usedPlace(channel) }
        assertCollected(listOf(element))
        assertTrue("spent" in "$place")
    }

    private suspend fun usedPlace(channel: Channel<Any>): Pair<Reservation<Any>, WeakReference<Any>> {
        val place = channel.reserve()
        val element = Any()
        place.send(element)
        check(channel.receive() === element)
        return place to WeakReference(element)
    }

    private companion object {
        private const val CANCELLED = 300_000
        private const val MANY = 100_000
    }
}
