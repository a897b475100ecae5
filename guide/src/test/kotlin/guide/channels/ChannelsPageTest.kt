package guide.channels

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.ReceiveChannel
import baton.channels.consume
import baton.channels.getOrElse
import baton.channels.produce
import baton.sync.Latch
import java.io.IOException
import java.util.ArrayDeque
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The Kotlin code of docs/channels-and-select.md. */
@OptIn(ExperimentalCoroutinesApi::class)
class ChannelsPageTest {
    @Test
    fun crawl_threePages_indexesThemInOrder() = runTest {
        val indexed = ArrayList<String>()
        crawl(listOf("a", "b", "c"), { "page $it" }) { indexed += it }
        assertEquals(listOf("page a", "page b", "page c"), indexed)
    }

    @Test
    fun consume_leavesEarly_cancelsTheChannel() = runTest {
        val pages = Channel<String>(capacity = 3)
        listOf("a", "b", "c").forEach { pages.send(it) }
        val firstTwo = pages.consume { listOf(receive(), receive()) } // then the channel is cancelled
        assertEquals(listOf("a", "b"), firstTwo)
        assertTrue(pages.isClosedForReceive)
    }

    @Test
    fun reserve_pollThrows_returnsThePlace() = runTest {
        val jobs = Channel<String>(capacity = 1)
        val source = ArrayDeque(listOf("job"))
        jobs.reserve().use { place -> place.send(source.poll()) } // returned unused if poll throws
        assertEquals("job", jobs.receive())
        assertThrows<IOException> { jobs.reserve().use { throw IOException("source") } }
        assertEquals(1, jobs.remainingCapacity)
        assertThrows<IllegalStateException> { Channel<String>().reserve() }
    }

    @Test
    fun priority_urgentIsSentLater_isReceivedFirst() = runTest {
        val jobs = Channel<String>(capacity = 100, order = ChannelOrder.PRIORITY)
        jobs.send("nightly report", Priority.LOW)
        jobs.send("refresh the token", Priority.CRITICAL)
        jobs.receive() // the token
        assertEquals("nightly report", jobs.receive())
    }

    @Test
    fun produce_cancelledAfterThree_endsTheProducer() = runTest {
        val numbers = produce(capacity = 10) { for (i in 1..1_000) send(i) }
        for (number in numbers) if (number == 3) break
        numbers.cancel() // ends the producer
        assertTrue(numbers.isClosedForReceive)
    }

    private class Connection : AutoCloseable {
        var isClosed = false

        override fun close() {
            isClosed = true
        }
    }

    @Test
    fun onDropped_cancelledChannel_closesTheConnections() = runTest {
        val idle = Channel<Connection>(capacity = 10, onDropped = { it.close() })
        val connection = Connection()
        idle.send(connection)
        idle.cancel()
        assertTrue(connection.isClosed)
    }

    suspend fun next(jobs: ReceiveChannel<String>, stop: Latch): String = select {
        stop.onAwait { "stopped" }
        jobs.onReceive { job -> "did $job" }
        onTimeout(1.minutes) { "idle" }
    }

    @Test
    fun select_eachClause_winsOnce() = runTest {
        val jobs = Channel<String>(capacity = 1)
        val stop = Latch(1)
        assertEquals("idle", next(jobs, stop))
        assertEquals(60_000, currentTime)
        jobs.send("a")
        assertEquals("did a", next(jobs, stop))
        jobs.send("b")
        stop.countDown()
        assertEquals("stopped", next(jobs, stop))
        assertEquals("b", jobs.receive())
    }

    @Test
    fun onReceive_closedChannel_makesTheSelectThrow() = runTest {
        val jobs = Channel<String>()
        jobs.close()
        assertThrows<ChannelClosedException> { next(jobs, Latch(1)) }
    }

    @Test
    fun close_eachWay_endsSendersAndReceiversAsThePageSays() = runTest {
        val closed = Channel<Int>(capacity = 2)
        closed.send(1)
        val sender = launch {
            closed.send(2)
            assertThrows<ChannelClosedException> { closed.send(3) }
        }
        runCurrent()
        closed.close()
        sender.join()
        assertEquals(listOf(1, 2), closed.receiveUpTo(10))
        assertEquals(listOf<Int>(), closed.receiveUpTo(10))
        assertThrows<ChannelClosedException> { closed.receive() }

        val failed = Channel<Int>()
        failed.close(IOException("lost"))
        assertThrows<IOException> { for (element in failed) error("$element") }
        assertThrows<IOException> { failed.receiveUpTo(1) }
        val stopped = Channel<Int>()
        stopped.close(CancellationException("stopped"))
        assertThrows<ChannelClosedException> { for (element in stopped) error("$element") }

        val dropped = ArrayList<Int>()
        val cancelled = Channel<Int>(capacity = 1, onDropped = { dropped += it })
        cancelled.send(1)
        cancelled.cancel()
        for (element in cancelled) error("$element")
        assertEquals(listOf(1), dropped)
    }

    @Test
    fun tryReceive_timeIsOver_hasReceivedNothing() = runTest {
        val jobs = Channel<String>()
        assertTrue(jobs.tryReceive(1.seconds).isFailure)
        assertTrue(jobs.trySend("a", 1.seconds).isFailure)
        assertEquals(2_000, currentTime)
        assertEquals(0, jobs.size)
    }

    @Test
    fun getOrElse_nothingInTime_isTheOtherValue() = runTest {
        val jobs = Channel<String>()
        val job = jobs.tryReceive(100.milliseconds).getOrElse { "none in time" } // also if the channel is closed
        assertEquals("none in time", job)
        jobs.close()
        assertEquals("closed", jobs.tryReceive(100.milliseconds).getOrElse { "closed" })
    }

    @Test
    fun capacity_ofKotlinx_isRefusedByName() {
        val refusal = assertThrows<IllegalArgumentException> { Channel<Int>(KotlinxChannel.BUFFERED) }
        val text = "capacity = -2, must be at least 0: this is Channel.BUFFERED of kotlinx.coroutines"
        assertTrue(refusal.message.orEmpty().startsWith(text), refusal.message)
        assertEquals(64, Channel.BUFFERED)
        assertEquals(0, Channel<Int>().capacity)
    }
}
