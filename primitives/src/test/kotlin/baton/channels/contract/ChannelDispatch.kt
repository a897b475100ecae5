package baton.channels.contract

import baton.channels.ChannelClosedException
import baton.waiting.Callers
import baton.waiting.contract.DyingDispatcher
import java.util.concurrent.Executors
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Coroutines in uncommon worlds: no job, no dispatcher, a dispatcher that runs at once, one that does not run at all.
 */
interface ChannelDispatch : ChannelFixture {
    @Test
    fun receive_noJobAndNoDispatcher_isResumedBySender() {
        val channel = channel(1)
        var result: Result<String>? = null
        suspend { channel.receive() }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        assertNull(result)
        channel.fill("a")
        assertEquals("a", result?.getOrThrow())
        assertState(channel, size = 0)
    }

    @Test
    fun send_noJobAndNoDispatcher_isResumedByReceiver() {
        val channel = channel(1).fill("a")
        var result: Result<Unit>? = null
        suspend { channel.send("b") }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        assertNull(result)
        assertEquals("a", channel.tryReceive())
        assertTrue(result?.isSuccess == true)
        assertEquals("b", channel.tryReceive())
    }

    @Test
    fun close_noJobAndNoDispatcher_isThrownIntoTheWaiter() {
        val channel = channel()
        var result: Result<String>? = null
        suspend { channel.receive() }.startCoroutine(Continuation(EmptyCoroutineContext) { result = it })
        channel.close()
        assertInstanceOf(ChannelClosedException::class.java, result?.exceptionOrNull())
    }

    @Test
    fun send_noDispatcherAndReceiverSendsOn_runsTheWholeChain() {
        val channels = List(100) { channel() }
        var last: String? = null
        for ((from, to) in channels.zipWithNext()) {
            suspend { to.send(from.receive()) }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }
        suspend { last = channels.last().receive() }.startCoroutine(Continuation(EmptyCoroutineContext) { })
        assertTrue(channels.first().trySend("a"))
        assertEquals("a", last)
    }

    @Test
    fun unconfined_bothSides_meetAtOnce() =
        runTest {
            val channel = channel()
            val sender = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { channel.send("a") }
            assertTrue(sender.isWaiting)
            var got: String? = null
            Callers(this).callAtOnce(context = Dispatchers.Unconfined) { got = channel.receive() }
            runCurrent()
            assertTrue(sender.isServed)
            assertEquals("a", got)
        }

    @Test
    fun cancel_unconfined_throwsOnTheCancellersStack() =
        runTest {
            val channel = channel()
            val receiver = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { channel.receive() }
            receiver.cancel()
            assertTrue(receiver.isCancelled)
            val sender = Callers(this).callAtOnce(context = Dispatchers.Unconfined) { channel.send("a") }
            sender.cancel()
            assertTrue(sender.isCancelled)
            assertState(channel, size = 0)
        }

    @Test
    fun receiver_dispatcherRefuses_elementGoesToTheNext() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val channel = channel()
            val dead = Callers(this).callAtOnce("dead", executor.asCoroutineDispatcher()) { channel.receive() }
            val receivers = Receivers(this, channel)
            receivers.receive()
            executor.shutdown()
            channel.fill("a")
            dead.job.join()
            runCurrent()
            assertTrue(dead.isCancelled)
            assertEquals(listOf("a"), receivers.got)
        }

    @Test
    fun receiver_dispatcherRefusesAndNobodyElseWaits_elementStays() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val channel = channel(1)
            val dead = Callers(this).callAtOnce("dead", executor.asCoroutineDispatcher()) { channel.receive() }
            executor.shutdown()
            channel.fill("a")
            dead.job.join()
            assertTrue(dead.isCancelled)
            assertEquals(listOf("a"), drain(channel))
        }

    @Test
    fun receiver_dispatcherThrows_elementStays() =
        runTest {
            val dead = DyingDispatcher()
            val channel = channel(1)
            val caller = Callers(this).callAtOnce("dead", dead) { channel.receive() }
            dead.isDead = true
            reportingTo(mutableListOf()) { channel.fill("a") }
            while (channel.size == 0) Thread.onSpinWait()
            assertTrue(!caller.isServed)
            assertEquals("a", channel.tryReceive())
        }

    @Test
    fun sender_dispatcherRefuses_sentIfAndOnlyIfItDidNotThrow() =
        runTest {
            val executor = Executors.newSingleThreadExecutor()
            val channel = channel(1).fill("a")
            val dead = Callers(this).callAtOnce("dead", executor.asCoroutineDispatcher()) { channel.send("b") }
            val next = Callers(this).call { channel.send("c") }
            executor.shutdown()
            assertEquals("a", channel.tryReceive())
            dead.job.join()
            runCurrent()
            val sent = if (dead.isServed) listOf("b") else emptyList()
            assertTrue(dead.isServed || dead.isCancelled, "$dead")
            assertEquals(sent + "c", drain(channel))
            assertTrue(next.isServed)
        }
}
