package baton.channels

import baton.channels.core.ChannelState
import baton.waiting.Callers
import baton.waiting.WaitCore
import baton.waiting.Waiter
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Selects that meet other selects while one of them is still registering, or has just been decided. */
class CrossingSelectsTest {
    private val a = Channel<String>()
    private val b = Channel<String>()

    private fun CoroutineScope.startNow(block: suspend CoroutineScope.() -> Unit): Job =
        launch(start = CoroutineStart.UNDISPATCHED, block = block)

    /**
     * kotlinx.coroutines #504, #1411: two selects over the same channels, each the other way round, spun or overflowed.
     */
    @Test
    fun select_twoOverTheSameChannelsInOppositeOrder_goOnWithoutEnd() = runTest {
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

    /** kotlinx.coroutines does not dispose of the other clauses then. */
    @Test
    fun select_cancelledWhileItsClauseRegistersAgain_leavesNoWaiter() = runTest {
        lateinit var selector: Job
        val sender = Callers(this)
        selector = launch {
            select<Unit> {
                a.onReceive {}
                b.onReceive {}
                sender.callAtOnce { a.send("1") }
                selector.cancel()
            }
        }
        runCurrent()
        assertTrue(selector.isCancelled)
        assertEquals(0, b.waiting)
        assertEquals("1", a.tryReceive().getOrNull())
        assertEquals(0, a.waiting)
    }

    @Test
    fun send_receivingSelectHasJustLost_waits() = runTest {
        val selector = Callers(this).call { select<String> { for (each in listOf(a, b)) each.onReceive { it } } }
        assertTrue(a.trySend("1").isSuccess)
        val sender = Callers(this).callAtOnce { b.send("2") }
        assertTrue(sender.isWaiting)
        runCurrent()
        assertTrue(selector.isServed)
        assertTrue(sender.isWaiting)
        assertEquals("2", b.tryReceive().getOrNull())
        runCurrent()
        assertTrue(sender.isServed)
    }

    @Test
    fun onSend_receivingSelectHasJustLost_waits() = runTest {
        Callers(this).call { select<String> { for (each in listOf(a, b)) each.onReceive { it } } }
        assertTrue(a.trySend("1").isSuccess)
        val sender = startNow { select<Unit> { b.onSend("2") {} } }
        runCurrent()
        assertFalse(sender.isCompleted)
        assertEquals(1, b.waiting)
        sender.cancelAndJoin()
        assertEquals(0, b.waiting)
    }

    @Test
    fun onReceive_sendingSelectHasJustLost_waits() = runTest {
        val selector =
            Callers(this).call { select<Unit> { for (each in listOf(a, b)) each.onSend("from ${each.size}") {} } }
        val first = startNow { select<Unit> { a.onReceive {} } }
        val second = startNow { select<Unit> { b.onReceive {} } }
        runCurrent()
        assertTrue(selector.isServed)
        assertTrue(first.isCompleted)
        assertFalse(second.isCompleted)
        assertTrue(b.trySend("2").isSuccess)
        runCurrent()
        assertTrue(second.isCompleted)
    }

    @Test
    fun onSend_whileTheReceivingSelectRegisters_isReceivedOnce() = runTest {
        val received = mutableListOf<String>()
        var sent = false
        select<Unit> {
            a.onReceive { received += it }
            startNow { select<Unit> { a.onSend("1") { sent = true } } }
        }
        runCurrent()
        assertTrue(sent)
        assertEquals(listOf("1"), received)
        assertEquals(0, a.waiting)
    }
}

/**
 * A channel is closed while an element is on its way to a receiver. It is not drained before that receiver has arrived:
 * a receiver that is cancelled gives the element back, and another one must still be there for it.
 */
class ChannelEndTest {
    private val channel = Channel<String>()

    @Test
    fun close_receiverOfTheLastElementArrives_nextReceiverGetsTheEnd() = runTest {
        val lucky = Callers(this).call { channel.receive() }
        assertTrue(channel.trySend("x").isSuccess)
        val next = Callers(this).callAtOnce { channel.receive() }
        channel.close()
        assertTrue(next.isWaiting)
        assertFalse(channel.tryReceive().isClosed)
        runCurrent()
        assertTrue(lucky.isServed)
        assertTrue(next.failure is ChannelClosedException)
        assertTrue(channel.tryReceive().isClosed)
    }

    @Test
    fun close_receivingSelectOfTheLastElementIsCancelled_nextReceiverGetsIt() = runTest {
        val unlucky = Callers(this).call { select { channel.onReceive { it } } }
        assertTrue(channel.trySend("x").isSuccess)
        var received: String? = null
        val next = Callers(this).callAtOnce { received = channel.receiveOrNull() }
        channel.close()
        assertTrue(next.isWaiting)
        unlucky.cancel()
        runCurrent()
        assertTrue(unlucky.isCancelled)
        assertEquals("x", received)
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
            }
            .startCoroutine(Continuation(job) {})
        job.cancel()
        assertEquals(listOf("true 1 true"), seen)
    }

    /** The channel is drained before the thread of the last element's receiver has the lock and ends the others. */
    @Test
    fun receive_whileTheLastElementArrives_failsItAndThoseThatWait() {
        val core = channel.core
        val last = Receiver(core, ChannelState.RECEIVE).apply { enqueue() }
        assertTrue(channel.trySend("x").isSuccess)
        val waiting = Receiver(core, ChannelState.RECEIVE).apply { enqueue() }
        val watching = Receiver(core, ChannelState.END).apply { enqueue() }
        channel.close()
        assertEquals(listOf(Waiter.WAITING, Waiter.WAITING), listOf(waiting.currentState, watching.currentState))

        lateinit var arriving: Thread
        val registering =
            Receiver(core, ChannelState.RECEIVE) {
                arriving = thread { core.arrived(last) }
                // A thread that wants the lock of the core parks with a timeout, and nothing else here does.
                while (arriving.state != Thread.State.TIMED_WAITING) Thread.onSpinWait()
            }
        registering.enqueue()
        arriving.join()

        val states = listOf(registering, waiting, watching).map { it.currentState }
        assertEquals(List(3) { Waiter.FAILED }, states)
        assertEquals(0, channel.waiting)
    }

    /** [underLock] runs when the core, under its lock, begins to look for an element. */
    private class Receiver(core: WaitCore, request: Any, private val underLock: () -> Unit = {}) :
        Waiter(core, number = 0, request) {
        override val selectId: Any?
            get() {
                underLock()
                return null
            }

        override val confirms: Boolean
            get() = true

        fun enqueue(): Int = core.enqueue(this)

        override fun resume(): Boolean = true

        override fun resumeFailed() = Unit
    }
}
