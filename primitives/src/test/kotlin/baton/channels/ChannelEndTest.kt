package baton.channels

import baton.waiting.Callers
import baton.waiting.WaitCore
import baton.waiting.Waiter
import kotlin.concurrent.thread
import kotlin.coroutines.Continuation
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Job
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A channel is closed while an element is on its way to a receiver. It is not drained before that receiver has arrived:
 * a receiver that is cancelled gives the element back, and another one must still be there for it.
 */
class ChannelEndTest {
    private val channel = Channel<String>()

    @Test
    fun close_receivingSelectOfTheLastElementIsCancelled_nextReceiverGetsIt() =
        runTest {
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
        }.startCoroutine(Continuation(job) { })
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
    private class Receiver(core: WaitCore, tag: Any, private val underLock: () -> Unit = {}) :
        Waiter(core, weight = 0, tag) {
        override val selectId: Any?
            get() {
                underLock()
                return null
            }

        override val confirms: Boolean get() = true

        fun enqueue(): Int = core.enqueue(this)

        override fun resume(): Boolean = true

        override fun resumeFailed() = Unit
    }
}
