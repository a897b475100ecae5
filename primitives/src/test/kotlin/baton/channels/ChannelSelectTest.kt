package baton.channels

import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.assertState
import baton.sync.Mutex
import baton.waiting.Callers
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.selects.selectUnbiased
import kotlinx.coroutines.selects.whileSelect
import kotlinx.coroutines.test.currentTime
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
    fun onSend_gives_theChannel() =
        runTest {
            val channel = Channel<String>(1)
            assertSame(channel, select<Any> { channel.onSend("a") { it } })
            assertEquals("a", channel.receive())
        }

    @Test
    fun onReceiveCatching_closed_isTold() =
        runTest {
            val why = RuntimeException("why")
            one.close(why)
            val result = select { one.onReceiveCatching { it } }
            assertTrue(result.isClosed)
            assertSame(why, result.exceptionOrNull()!!.cause)
            val waiting = Callers(this).call { assertTrue(select<Boolean> { two.onReceiveCatching { it.isClosed } }) }
            two.close()
            runCurrent()
            assertTrue(waiting.isServed, "$waiting")
        }

    @Test
    fun clauses_closed_throw() =
        runTest {
            one.close()
            assertThrows<ChannelClosedException> { select { one.onSend("a") {} } }
            assertThrows<ChannelClosedException> { select { one.onReceive {} } }
        }

    @Test
    fun select_channelClosesMeanwhile_throwsAndLeavesTheOther() =
        runTest {
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
    fun onReceive_loses_elementOfTheOtherStays() =
        runTest {
            val a = Channel<String>(1).also { it.trySend("a") }
            val b = Channel<String>(1).also { it.trySend("b") }
            val won =
                select {
                    a.onReceive { it }
                    b.onReceive { it }
                }
            assertEquals("a", won)
            assertState(a, size = 0)
            assertState(b, size = 1)
        }

    @Test
    fun onReceive_bothSentInOneStep_secondSenderFindsNoReceiver() =
        runTest {
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
    fun onSend_loses_sendsNothing() =
        runTest {
            val selector =
                Callers(this).call {
                    select {
                        one.onSend("1") {}
                        two.onSend("2") {}
                    }
                }
            val got = Callers(this).call { assertEquals("2", two.receive()) }
            assertTrue(selector.isServed && got.isServed)
            assertState(one, size = 0)
            assertFalse(one.tryReceive().isSuccess)
        }

    @Test
    fun onSend_cancelledAfterThePlaceWasPromised_sendsNothingAndTheNextComes() =
        runTest {
            val channel = Channel<String>(1).also { it.trySend("full") }
            val selector = Callers(this).call { select { channel.onSend("lost") {} } }
            val next = Callers(this).call { channel.send("next") }
            channel.tryReceive()
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled && next.isServed)
            assertEquals("next", channel.tryReceive().getOrThrow())
            assertState(channel, size = 0)
        }

    @Test
    fun onReceive_cancelledAfterItGotItsElement_givesItBack() =
        runTest {
            val selector = Callers(this).call { select { one.onReceive {} } }
            one.trySend("a")
            selector.cancel()
            runCurrent()
            assertTrue(selector.isCancelled)
            assertEquals("a", one.tryReceive().getOrThrow())
        }

    @Test
    fun onSend_channelIsCancelledAfterThePlaceWasPromised_throws() =
        runTest {
            val channel = Channel<String>(1).also { it.trySend("full") }
            val selector = Callers(this).call { select { channel.onSend("a") {} } }
            channel.tryReceive()
            channel.cancel()
            runCurrent()
            assertInstanceOf(ChannelClosedException::class.java, selector.failure)
        }

    @Test
    fun onSend_channelIsClosedAfterThePlaceWasPromised_isSent() =
        runTest {
            val channel = Channel<String>(1).also { it.trySend("full") }
            val selector = Callers(this).call { select { channel.onSend("a") {} } }
            channel.tryReceive()
            channel.close()
            runCurrent()
            assertTrue(selector.isServed, "$selector")
            assertEquals("a", channel.receive())
        }

    @Test
    fun clauses_besideATimeout_leaveTheLines() =
        runTest {
            val won =
                select {
                    one.onReceive { "received" }
                    two.onSend("a") { "sent" }
                    onTimeout(50) { "late" }
                }
            assertEquals("late", won)
            assertEquals(50, currentTime)
            assertState(one, size = 0)
            assertState(two, size = 0)
        }

    @Test
    fun clauses_besideAMutex_onlyOneWins() =
        runTest {
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
    fun select_sendsAndReceivesOnOneRendezvousChannel_doesNotMeetItself() =
        runTest {
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

    @Test
    fun select_sendsAndReceivesOnOneRendezvousChannel_meetsAReceiver() =
        runTest {
            val channel = Channel<String>()
            val selector =
                Callers(this).call {
                    select {
                        channel.onReceive { error("received $it") }
                        channel.onSend("own") {}
                    }
                }
            val got = mutableListOf<String>()
            Callers(this).call { got += channel.receive() }
            assertTrue(selector.isServed, "$selector")
            assertEquals(listOf("own"), got)
            assertState(channel, size = 0)
        }

    /** The select's own send, at the head of the queue, kept its receive from the sender behind. */
    @Test
    fun select_aSenderCameBetweenItsTwoClauses_receivesFromThatOne() =
        runTest {
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
    fun twoSelects_bothSendAndReceive_meetEachOther() =
        runTest {
            val channel = Channel<String>()
            val log = mutableListOf<String>()
            for (name in listOf("a", "b")) {
                Callers(this).call(name) {
                    select {
                        channel.onSend(name) { log += "$name sent" }
                        channel.onReceive { log += "$name received $it" }
                    }
                }
            }
            assertEquals(setOf("b sent", "a received b"), log.toSet())
            assertState(channel, size = 0)
        }

    @Test
    fun twoSelects_crossing_meetOnOneChannel() =
        runTest {
            val log = mutableListOf<String>()
            Callers(this).call {
                select {
                    one.onSend("x") { log += "a sent" }
                    two.onReceive { log += "a got $it" }
                }
            }
            Callers(this).call {
                select {
                    two.onSend("y") { log += "b sent" }
                    one.onReceive { log += "b got $it" }
                }
            }
            assertEquals(setOf("b sent", "a got y"), log.toSet())
            assertState(one, size = 0)
            assertState(two, size = 0)
        }

    @Test
    fun whileSelect_drainsUntilClosed() =
        runTest {
            val a = Channel<String>(5)
            repeat(5) { a.trySend("$it") }
            a.close()
            var count = 0
            whileSelect { a.onReceiveCatching { it.isSuccess.also { more -> if (more) count++ } } }
            assertEquals(5, count)
        }

    @Test
    fun selectUnbiased_takesFromBoth() =
        runTest {
            val channels = List(2) { i -> Channel<String>(1).also { it.trySend("$i") } }
            val got = List(2) { selectUnbiased { for (channel in channels) channel.onReceive { it } } }
            assertEquals(setOf("0", "1"), got.toSet())
        }

    @Test
    fun clause_readOnceAndUsedInTwoSelects_worksInBoth() =
        runTest {
            val channel = Channel<String>(2)
            val send = channel.onSend
            val receive = channel.onReceive
            for (element in listOf("a", "b")) select { send(element) {} }
            assertEquals(listOf("a", "b"), List(2) { select { receive { it } } })
        }

    @Test
    fun block_throws_elementWasReceived() =
        runTest {
            val channel = Channel<String>(1).also { it.trySend("a") }
            assertThrows<IllegalStateException> { select { channel.onReceive { error("in the block") } } }
            assertState(channel, size = 0)
        }

    @Test
    fun block_suspends_clauseHasSentBefore() =
        runTest {
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
    fun elementIsNull_isReceived() =
        runTest {
            val channel = Channel<String?>(1)
            select { channel.onSend(null) {} }
            assertNull(select<String?> { channel.onReceive { it } })
            val waiting = Callers(this).call { assertNull(select<String?> { channel.onReceive { it } }) }
            channel.send(null)
            runCurrent()
            assertTrue(waiting.isServed, "$waiting")
        }

    @Test
    fun clauses_loseManyTimes_leaveNothingBehind() =
        runTest {
            repeat(1_000) {
                select {
                    one.onReceive {}
                    two.onSend("a") {}
                    onTimeout(1) {}
                }
            }
            assertState(one, size = 0)
            assertState(two, size = 0)
        }
}
