package baton.channels.contract

import baton.channels.Channel
import baton.channels.ChannelClosedException
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
}
