package baton.channels.contract

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.sync.assertContains
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Every call ends, and the buffered elements are dropped. */
interface ChannelCancelling : ChannelFixture {
    @Test
    fun cancel_elementsInside_goToOnDroppedInOrder() {
        for (order in ChannelOrder.entries) {
            val dropped = mutableListOf<String>()
            val channel = channel(3, order, onDropped = dropped::add).fill("a", "b", "c")
            channel.cancel()
            assertEquals(listOf("a", "b", "c"), dropped)
            assertState(channel, size = 0)
            assertTrue(channel.isClosed)
        }
    }

    @Test
    fun cancel_noOnDropped_throwsAwayWhatIsInside() {
        val channel = channel(2).fill("a", "b")
        channel.cancel()
        assertState(channel, size = 0)
    }

    @Test
    fun cancel_everybody_getsClosed() =
        runTest {
            val why = RuntimeException("why")
            val channel = channel(1, name = "jobs").fill("a")
            val sender = Callers(this).call { channel.send("b") }
            channel.cancel(why)
            runCurrent()
            assertTrue(why in sender.failure!!.causes())
            for (e in listOf(
                assertThrows<ChannelClosedException> { channel.trySend("c") },
                assertThrows<ChannelClosedException> { channel.tryReceive() },
                assertThrows<ChannelClosedException> { channel.resize(2) },
            )) {
                assertSame(why, e.cause)
                assertContains(e.message, "Channel 'jobs' is cancelled")
            }
            for (late in listOf(Callers(this).call { channel.send("d") }, Callers(this).call { channel.receive() })) {
                assertInstanceOf(ChannelClosedException::class.java, late.failure)
            }
        }

    @Test
    fun cancel_receiversWait_failsThem() =
        runTest {
            val channel = channel()
            val waiters = List(3) { Callers(this).call { channel.receive() } }
            channel.cancel()
            runCurrent()
            for (waiter in waiters) assertInstanceOf(ChannelClosedException::class.java, waiter.failure)
            assertState(channel, size = 0)
        }

    @Test
    fun cancel_sendersWait_theirElementsAreNotDropped() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onDropped = dropped::add).fill("a")
            val sender = Callers(this).call { channel.send("b") }
            channel.cancel()
            runCurrent()
            assertInstanceOf(ChannelClosedException::class.java, sender.failure)
            assertEquals(listOf("a"), dropped)
        }

    @Test
    fun cancel_afterClose_keepsTheCauseAndThrowsAwayTheRest() {
        val dropped = mutableListOf<String>()
        val why = RuntimeException("first")
        val channel = channel(2, onDropped = dropped::add).fill("a", "b")
        channel.close(why)
        channel.cancel(RuntimeException("second"))
        assertEquals(listOf("a", "b"), dropped)
        assertSame(why, assertThrows<ChannelClosedException> { channel.tryReceive() }.cause)
    }

    @Test
    fun cancel_again_changesNothing() {
        val dropped = mutableListOf<String>()
        val why = RuntimeException("first")
        val channel = channel(1, onDropped = dropped::add).fill("a")
        channel.cancel(why)
        channel.cancel(RuntimeException("second"))
        assertEquals(false, channel.close())
        assertEquals(listOf("a"), dropped)
        assertSame(why, assertThrows<ChannelClosedException> { channel.trySend("b") }.cause)
    }

    @Test
    fun cancel_receiverHasItsElementButHasNotRun_receives() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(onDropped = dropped::add)
            val receivers = Receivers(this, channel)
            receivers.receive()
            channel.fill("a")
            channel.cancel()
            runCurrent()
            assertEquals(listOf("a"), receivers.got)
            assertEquals(emptyList<String>(), dropped)
        }

    @Test
    fun cancel_receiverHasItsElementAndIsCancelled_elementIsDropped() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(onDropped = dropped::add)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a")
            channel.cancel()
            unlucky.cancel()
            runCurrent()
            assertTrue(unlucky.isCancelled)
            assertEquals(listOf("a"), dropped)
            assertState(channel, size = 0)
        }

    @Test
    fun cancel_elementsThatWereGivenBack_areDroppedFirst() =
        runTest {
            val dropped = mutableListOf<String>()
            val channel = channel(1, onDropped = dropped::add)
            val unlucky = Receivers(this, channel).receive()
            channel.fill("a", "b")
            unlucky.cancel()
            runCurrent()
            channel.cancel()
            assertEquals(listOf("a", "b"), dropped)
        }

    @Test
    fun onDropped_throws_theOthersAreStillDropped() {
        val dropped = mutableListOf<String>()
        val reported = mutableListOf<Throwable>()
        val channel =
            channel(3, onDropped = {
                dropped += it
                error("dropped $it")
            }).fill("a", "b", "c")
        reportingTo(reported) { channel.cancel() }
        assertEquals(listOf("a", "b", "c"), dropped)
        assertEquals(listOf("dropped a", "dropped b", "dropped c"), reported.map { it.message })
    }

    @Test
    fun onDropped_usesTheChannel_meetsNoLock() {
        lateinit var channel: ChannelFace
        val seen = mutableListOf<String>()
        channel = channel(1, onDropped = { seen += "$it ${channel.size} ${channel.isClosed} ${channel.close()}" })
        channel.fill("a").cancel()
        assertEquals(listOf("a 0 true false"), seen)
    }
}

/** The exceptions that this thread's handler for uncaught exceptions gets meanwhile. */
internal fun reportingTo(reported: MutableList<Throwable>, block: () -> Unit) {
    val thread = Thread.currentThread()
    val before = thread.uncaughtExceptionHandler
    thread.setUncaughtExceptionHandler { _, e -> reported += e }
    try {
        block()
    } finally {
        thread.uncaughtExceptionHandler = before
    }
}
