package baton.channels

import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.assertState
import baton.sync.Mutex
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The clauses beside each other, and beside the clauses of other selects. */
class ChannelSelectTest {
    private val one = Channel<String>()
    private val two = Channel<String>()

    private fun assertState(channel: Channel<String>, size: Int, waiting: Int = 0) =
        assertState(KotlinChannelFace(channel), size, waiting)

    @Test
    fun onSend_gives_theChannel() = runTest {
        val channel = Channel<String>(1)
        assertSame(channel, select<Any> { channel.onSend("a") { it } })
        assertEquals("a", channel.receive())
    }

    @Test
    fun onReceiveCatching_closed_isTold() = runTest {
        val why = RuntimeException("why")
        one.close(why)
        val result = select { one.onReceiveCatching { it } }
        assertTrue(result.isClosed)
        assertSame(why, result.exceptionOrNull())
        val waiting = Callers(this).call { assertTrue(select<Boolean> { two.onReceiveCatching { it.isClosed } }) }
        two.close()
        runCurrent()
        assertTrue(waiting.isServed, "$waiting")
    }

    @Test
    fun select_channelClosesMeanwhile_throwsAndLeavesTheOther() = runTest {
        val selector =
            Callers(this).call {
                select {
                    one.onReceive {}
                    two.onSend("a") {}
                }
            }
        one.close()
        runCurrent()
        assertInstanceOf(ChannelClosedException::class.java, selector.failure)
        assertState(two, size = 0)
    }

    @Test
    fun onReceive_bothSentInOneStep_secondSenderFindsNoReceiver() = runTest {
        val received = mutableListOf<String>()
        Callers(this).call {
            received +=
                select<String> {
                    one.onReceive { it }
                    two.onReceive { it }
                }
        }
        assertTrue(one.trySend("1").isSuccess)
        assertFalse(two.trySend("2").isSuccess)
        runCurrent()
        assertEquals(listOf("1"), received)
        assertState(one, size = 0)
        assertState(two, size = 0)
    }

    @Test
    fun onSend_channelIsCancelledAfterThePlaceWasPromised_throws() = runTest {
        val channel = Channel<String>(1).also { it.trySend("full") }
        val selector = Callers(this).call { select { channel.onSend("a") {} } }
        channel.tryReceive()
        channel.cancel()
        runCurrent()
        assertInstanceOf(ChannelClosedException::class.java, selector.failure)
    }

    @Test
    fun clauses_besideAMutex_onlyOneWins() = runTest {
        val mutex = Mutex(locked = true)
        val won = mutableListOf<String>()
        Callers(this).call {
            won +=
                select<String> {
                    mutex.onLock(null) { "lock" }
                    one.onReceive { it }
                }
        }
        one.trySend("a")
        mutex.unlock()
        runCurrent()
        assertEquals(listOf("a"), won)
        assertFalse(mutex.isLocked)
    }

    @Test
    fun select_sendsAndReceivesOnOneRendezvousChannel_doesNotMeetItself() = runTest {
        for (sendFirst in listOf(true, false)) {
            val channel = Channel<String>()
            var got: String? = null
            val selector =
                Callers(this).call {
                    select {
                        if (sendFirst) channel.onSend("own") { got = "sent" }
                        channel.onReceive { got = it }
                        if (!sendFirst) channel.onSend("own") { got = "sent" }
                    }
                }
            assertTrue(selector.isWaiting)
            assertState(channel, size = 0, waiting = 2)
            assertTrue(channel.trySend("other").isSuccess)
            runCurrent()
            assertEquals("other", got)
            assertState(channel, size = 0)
        }
    }

    /** The select's own send, at the head of the queue, kept its receive from the sender behind. */
    @Test
    fun select_aSenderCameBetweenItsTwoClauses_receivesFromThatOne() = runTest {
        for (order in ChannelOrder.entries) {
            val channel = Channel<String>(order = order)
            val callers = Callers(this)
            var got: String? = null
            callers.call("selector") {
                select {
                    channel.onSend("own") { got = "sent" }
                    callers.callAtOnce("between") { channel.send("between") }
                    channel.onReceive { got = it }
                }
            }
            assertEquals("between", got)
            assertEquals(setOf("between", "selector"), callers.served.toSet())
            assertState(channel, size = 0)
        }
    }

    @Test
    fun clause_readOnceAndUsedInTwoSelects_worksInBoth() = runTest {
        val channel = Channel<String>(2)
        val send = channel.onSend
        val receive = channel.onReceive
        for (element in listOf("a", "b")) select { send(element) {} }
        assertEquals(listOf("a", "b"), List(2) { select { receive { it } } })
    }

    @Test
    fun block_throws_elementWasReceived() = runTest {
        val channel = Channel<String>(1).also { it.trySend("a") }
        assertThrows<IllegalStateException> { select { channel.onReceive { error("in the block") } } }
        assertState(channel, size = 0)
    }

    @Test
    fun block_suspends_clauseHasSentBefore() = runTest {
        val gate = CompletableDeferred<Unit>()
        val channel = Channel<String>(1)
        val selector = Callers(this).call { select { channel.onSend("a") { gate.await() } } }
        assertTrue(selector.isWaiting)
        assertEquals("a", channel.tryReceive().getOrThrow())
        gate.complete(Unit)
        runCurrent()
        assertTrue(selector.isServed)
    }

    @Test
    fun elementIsNull_isReceived() = runTest {
        val channel = Channel<String?>(1)
        select { channel.onSend(null) {} }
        assertNull(select<String?> { channel.onReceive { it } })
        val waiting = Callers(this).call { assertNull(select<String?> { channel.onReceive { it } }) }
        channel.send(null)
        runCurrent()
        assertTrue(waiting.isServed, "$waiting")
    }
}
