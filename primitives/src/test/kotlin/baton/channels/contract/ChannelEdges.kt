package baton.channels.contract

import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.reportingTo
import baton.sync.assertContains
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.test.TestScope
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

/**
 * Cases that [ChannelAgainstModel] does not show: messages, causes, misuse, and callers that are cancelled beforehand.
 */
interface ChannelEdges : ChannelFixture {
    @Test
    fun channel_new_isEmptyAndOpen() {
        for (capacity in listOf(0, 1, 2, Channel.UNLIMITED)) {
            val channel = channel(capacity)
            assertEquals(capacity, channel.capacity)
            assertFalse(channel.isClosed)
            assertState(channel, size = 0)
            assertNull(channel.tryReceive())
        }
    }

    @Test
    fun capacity_negative_isRefusedAndChangesNothing() {
        val channel = channel(2).fill("a")
        for (capacity in listOf(Int.MIN_VALUE, -1)) {
            for (refused in listOf<() -> Unit>({ channel(capacity) }, { channel.resize(capacity) })) {
                val e = assertThrows<IllegalArgumentException> { refused() }
                assertContains(e.message, "capacity = $capacity", "at least 0")
            }
            assertEquals(2, channel.capacity)
            assertState(channel, size = 1)
        }
    }

    /** An import of kotlinx's Channel beside a channel of ours: its constants are numbers below 0. */
    @Test
    fun capacity_aConstantOfKotlinx_isRefusedByItsName() {
        val constants = mapOf(KotlinxChannel.BUFFERED to "BUFFERED", KotlinxChannel.CONFLATED to "CONFLATED")
        for ((capacity, name) in constants) {
            for (refused in listOf<() -> Unit>({ channel(capacity) }, { channel(2).resize(capacity) })) {
                val message = assertThrows<IllegalArgumentException> { refused() }.message
                assertContains(
                    message,
                    "capacity = $capacity",
                    "Channel.$name of kotlinx",
                    "baton.channels.Channel.$name",
                )
            }
        }
    }

    @Test
    fun resize_toTheEdges_isWhatItSays() {
        val channel = channel(1)
        for (capacity in listOf(0, 1, Int.MAX_VALUE, 0)) {
            channel.resize(capacity)
            assertEquals(capacity, channel.capacity)
            assertEquals(capacity > 0, channel.trySend("a"))
            if (capacity > 0) assertEquals("a", channel.tryReceive())
        }
    }

    @Test
    fun toString_saysNameAndState() = runTest {
        val channel = channel(2, name = "jobs").fill("a")
        val place = channel.reserve()
        assertContains("$place", "open", "jobs")
        place.close()
        assertContains("$place", "spent")
        channel.fill("b")
        Callers(this).call { channel.send("c") }
        assertContains("$channel", "Channel 'jobs'", "size = 2", "capacity = 2", "waiting = 1")
        channel.close()
        assertContains("$channel", "waiting = 0", "closed")
        channel.cancel()
        assertContains("$channel", "size = 0", "cancelled")
        assertContains("${channel(Channel.UNLIMITED)}", "unlimited")
    }

    @Test
    fun elements_equal_areAllHandedOn() = runTest {
        assertEquals(listOf("a", "a", "a"), drain(channel(3).fill("a", "a", "a")))
    }

    @Test
    fun calls_inACancelledCoroutine_doNotWaitAndThrowIfTheyHadTo() = runTest {
        val calls =
            listOf<Pair<Boolean, suspend (ChannelFace) -> Unit>>(
                false to { it.send("a") },
                false to { it.reserve() },
                true to { assertEquals("a", it.receive()) },
            )
        for ((receives, call) in calls) {
            for (isPossible in listOf(true, false)) {
                val channel = channel(1)
                if (receives == isPossible) channel.fill("a")
                val size = channel.size
                val caller =
                    Callers(this).call {
                        currentCoroutineContext().job.cancel()
                        call(channel)
                    }
                assertEquals(isPossible to !isPossible, caller.isServed to caller.isCancelled, "$caller")
                assertEquals(0, channel.waiting)
                if (!isPossible) assertEquals(size, channel.size)
            }
        }
    }

    @Test
    fun sender_servedAndCancelledBeforeItRuns_sentIfAndOnlyIfItDidNotThrow() = runTest {
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

    private fun TestScope.assertEveryCallThrows(channel: ChannelFace, why: Throwable?, message: String) {
        val thrown =
            listOf(
                assertThrows<ChannelClosedException> { channel.trySend("c") },
                assertThrows<ChannelClosedException> { channel.tryReceive() },
                assertThrows<ChannelClosedException> { channel.resize(2) },
            )
        for (e in thrown) {
            assertSame(why, e.cause)
            assertContains(e.message, message)
        }
        val calls = listOf<suspend () -> Any>({ channel.send("d") }, { channel.receive() }, { channel.reserve() })
        for (call in calls) assertClosed(Callers(this).call(request = call).failure, why)
        val orNull = Callers(this).call { assertNull(channel.receiveOrNull()) }
        assertTrue(orNull.isServed, "$orNull")
        assertEquals(1, channel.capacity)
        assertState(channel, size = 0)
    }

    private fun assertClosed(failure: Throwable?, why: Throwable?) {
        assertInstanceOf(ChannelClosedException::class.java, failure)
        assertTrue(why == null || why in failure!!.causes())
    }

    @Test
    fun close_laterAndWaitingCalls_throwItsCause() = runTest {
        for (why in listOf(null, RuntimeException("why"), CancellationException("why"))) {
            val channel = channel(1, name = "jobs")
            val receiver = Callers(this).call { channel.receive() }
            val orNull = Callers(this).call { assertNull(channel.receiveOrNull()) }
            assertTrue(channel.close(why))
            assertFalse(channel.close(RuntimeException("second")))
            runCurrent()
            assertClosed(receiver.failure, why)
            assertTrue(orNull.isServed, "$orNull")
            assertEveryCallThrows(channel, why, "Channel 'jobs' is closed")
        }
        val full = channel(1).fill("a")
        val sender = Callers(this).call { full.send("b") }
        val why = RuntimeException("why")
        full.close(why)
        runCurrent()
        assertClosed(sender.failure, why)
        assertEquals("a", full.receiveOrNull())
    }

    @Test
    fun closedException_isAnIllegalStateAndNoCancellation() {
        val channel = channel(1)
        channel.close()
        val e: Throwable = assertThrows<ChannelClosedException> { channel.trySend("a") }
        assertTrue(e is IllegalStateException)
        assertFalse(e is CancellationException)
    }

    @Test
    fun cancel_laterAndWaitingCalls_throwItsCause() = runTest {
        val why = RuntimeException("why")
        val channel = channel(1, name = "jobs").fill("a")
        val sender = Callers(this).call { channel.send("b") }
        channel.cancel(why)
        channel.cancel(RuntimeException("second"))
        assertFalse(channel.close())
        runCurrent()
        assertClosed(sender.failure, why)
        assertEveryCallThrows(channel, why, "Channel 'jobs' is cancelled")
    }

    @Test
    fun cancel_afterClose_keepsTheCause() {
        val why = RuntimeException("first")
        val channel = channel(1)
        channel.close(why)
        channel.cancel(RuntimeException("second"))
        assertSame(why, assertThrows<ChannelClosedException> { channel.tryReceive() }.cause)
    }

    @Test
    fun onDropped_throws_theOthersAreStillDropped() {
        val dropped = mutableListOf<String>()
        val reported = mutableListOf<Throwable>()
        val channel =
            channel(
                    3,
                    onDropped = {
                        dropped += it
                        error("dropped $it")
                    },
                )
                .fill("a", "b", "c")
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

    @Test
    fun place_usedOrClosedAgain_isMisuseAndChangesNothing() = runTest {
        val channel = channel(3).fill("a")
        val used = channel.reserve().apply { send("b") }
        val closed = channel.reserve().apply { close() }
        for (place in listOf(used, closed)) {
            assertThrows<IllegalStateException> { place.send("c") }
            repeat(2) { place.close() }
        }
        assertTrue(channel.trySend("c"))
        assertFalse(channel.trySend("d"))
        assertEquals(listOf("a", "b", "c"), drain(channel))
    }

    @Test
    fun reserve_rendezvous_isMisuse() = runTest {
        val channel = channel(0, name = "jobs")
        val caller = Callers(this).call { channel.reserve() }
        val e = assertInstanceOf(IllegalStateException::class.java, caller.failure)
        assertContains(e.message, "capacity = 0", "jobs")
        assertState(channel, size = 0)
    }

    @Test
    fun receiveUpTo_elementsAreThere_takesThemInOrderUpToTheLimit() = runTest {
        for (order in ChannelOrder.entries) {
            val channel = channel(8, order).fill("a", "b", "c", "d", "e")
            assertEquals(listOf("a"), channel.receiveUpTo(1))
            assertEquals(listOf("b", "c"), channel.receiveUpTo(2))
            assertEquals(6, channel.remainingCapacity)
            assertEquals(listOf("d", "e"), channel.receiveUpTo(Int.MAX_VALUE))
            assertState(channel, size = 0)
            assertEquals(8, channel.remainingCapacity)
        }
    }

    @Test
    fun receiveUpTo_limitBelowOne_isRefusedAndReceivesNothing() = runTest {
        val channel = channel(1).fill("a")
        for (limit in listOf(Int.MIN_VALUE, -1, 0)) {
            val refusal = assertThrows<IllegalArgumentException> { channel.receiveUpTo(limit) }
            assertContains(refusal.message, "limit = $limit", "at least 1")
        }
        assertState(channel, size = 1)
    }

    @Test
    fun receiveUpTo_empty_waitsForOneElementAndNotForMore() = runTest {
        for (capacity in listOf(0, 3)) {
            val channel = channel(capacity)
            val got = mutableListOf<String>()
            val caller = Callers(this).call { got += channel.receiveUpTo(3) }
            assertState(channel, size = 0, waiting = 1)
            assertEquals(capacity, channel.remainingCapacity)
            Callers(this).call { channel.send("a") }
            while (caller.isWaiting) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf("a"), got)
        }
    }

    @Test
    fun receiveUpTo_cancelledWhileItWaits_hasReceivedNothing() = runTest {
        val channel = channel(3)
        val caller = Callers(this).call { channel.receiveUpTo(2) }
        caller.cancel()
        while (caller.isWaiting) Thread.onSpinWait().also { runCurrent() }
        channel.fill("a", "b")
        assertEquals(listOf("a", "b"), channel.receiveUpTo(9))
    }

    @Test
    fun receiveUpTo_otherReceiversWait_doesNotOvertake() = runTest {
        val channel = channel(3)
        val first = Receivers(this, channel).apply { receive("first") }
        val got = mutableListOf<String>()
        val second = Callers(this).call { got += channel.receiveUpTo(3) }
        channel.fill("a", "b")
        while (second.isWaiting || first.got.isEmpty()) Thread.onSpinWait().also { runCurrent() }
        assertEquals("[a] [b]", "${first.got} $got")
    }

    @Test
    fun receiveUpTo_closed_drainsAndIsEmptyThen() = runTest {
        val channel = channel(3).fill("a", "b", "c")
        channel.close()
        assertTrue(channel.isClosed && !channel.isClosedForReceive)
        assertEquals(listOf("a", "b"), channel.receiveUpTo(2))
        assertFalse(channel.isClosedForReceive)
        assertEquals(listOf("c"), channel.receiveUpTo(2))
        assertTrue(channel.isClosedForReceive)
        repeat(2) { assertEquals(listOf<String>(), channel.receiveUpTo(2)) }
        for (end in listOf<(ChannelFace) -> Unit>({ it.close() }, { it.cancel() })) {
            val empty = channel(1)
            val got = mutableListOf<List<String>>()
            val caller = Callers(this).call { got += empty.receiveUpTo(2) }
            end(empty)
            while (caller.isWaiting) Thread.onSpinWait().also { runCurrent() }
            assertEquals(listOf(listOf<String>()), got)
            assertTrue(empty.isClosed && empty.isClosedForReceive)
        }
    }

    @Test
    fun receiveUpTo_closedWithACause_failsWithIt() = runTest {
        for (cause in listOf(IllegalStateException("why"), CancellationException("why"))) {
            for (isWaiting in listOf(false, true)) {
                for (end in listOf<(ChannelFace) -> Unit>({ it.close(cause) }, { it.cancel(cause) })) {
                    val channel = channel(1)
                    if (!isWaiting) end(channel)
                    val caller = Callers(this).call { channel.receiveUpTo(2) }
                    if (isWaiting) end(channel)
                    while (caller.isWaiting) Thread.onSpinWait().also { runCurrent() }
                    assertFalse(caller.isCancelled)
                    val causes = checkNotNull(caller.failure).causes()
                    assertTrue(causes.any { it.javaClass == cause.javaClass && it.message == "why" }, "$causes")
                }
            }
        }
    }

    @Test
    fun remainingCapacity_resizedAndReserved_isNeverNegative() = runTest {
        val channel = channel(2)
        val place = channel.reserve()
        assertEquals(1, channel.remainingCapacity)
        channel.fill("a")
        assertEquals(0, channel.remainingCapacity)
        channel.resize(1)
        assertEquals(0, channel.remainingCapacity)
        channel.resize(Channel.UNLIMITED)
        assertEquals(Int.MAX_VALUE - 2, channel.remainingCapacity)
        place.close()
        assertEquals(Int.MAX_VALUE - 1, channel.remainingCapacity)
        channel.close()
        assertEquals(Int.MAX_VALUE - 1, channel.remainingCapacity)
        assertEquals(0, channel(0).remainingCapacity)
        val dropping = channel(1, onFull = OnFull.DROP_OLDEST).fill("a", "b")
        assertEquals(0, dropping.remainingCapacity)
    }
}
