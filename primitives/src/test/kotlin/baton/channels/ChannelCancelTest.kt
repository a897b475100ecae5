package baton.channels

import baton.channels.core.receives
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** The callers of a channel see its end after `cancel`, and no coroutine is cancelled. */
class ChannelCancelTest {
    private val dropped = mutableListOf<Int>()
    private val channel = Channel<Int>(2, onDropped = { dropped += it })

    private suspend fun iterate(over: Channel<Int>): Int {
        var count = 0
        for (element in over) count++
        return count
    }

    private fun filled() = channel.also { repeat(2) { i -> it.trySend(i) } }

    private val quietWays =
        listOf<suspend () -> Any?>(
            { iterate(channel) },
            { channel.asFlow().toList() },
            { assertNull(channel.receiveOrNull()) },
            { assertTrue(channel.receiveCatching().isClosed) },
            { select { channel.onReceiveCatching { assertTrue(it.isClosed) } } },
            { channel.consumeEach {} },
            { channel.toList() },
        )

    /** A select throws a copy of the exception, with the original as its cause. */
    private fun assertRoot(root: Throwable?, e: Throwable) {
        assertSame(root, e.causes().lastOrNull { it !is ChannelClosedException })
    }

    private val receives = listOf<suspend () -> Any?>({ channel.receive() }, { select { channel.onReceive { it } } })

    private val sends =
        listOf<suspend () -> Any?>(
            { channel.send(7) },
            { select { channel.onSend(7) {} } },
            { channel.reserve() },
            { channel.tryReserve() },
        )

    @Test
    fun cancel_beforeAConsumerOrWhileItWaits_endsItNormally() = runTest {
        val waiting = quietWays.map { way -> Callers(this).call { way() } }
        channel.cancel()
        runCurrent()
        assertTrue(waiting.all { it.isServed }, "${waiting.map { it.failure }}")
        for (way in quietWays) way()
    }

    @Test
    fun cancel_whileACallerWaits_failsItAndIsNoCancellation() = runTest {
        val receiving = receives.map { call -> Callers(this).call { call() } }
        channel.cancel()
        runCurrent()
        val full = Channel<Int>(1).also { it.send(1) }
        val sending =
            listOf<suspend () -> Any?>({ full.send(2) }, { select { full.onSend(2) {} } }, { full.reserve() }).map {
                Callers(this).call(request = it)
            }
        full.cancel()
        runCurrent()
        for (caller in receiving + sending) assertSame(ChannelClosedException::class.java, caller.failure?.javaClass)
        for (call in receives + sends) assertRoot(null, assertThrows<ChannelClosedException> { call() })
    }

    @Test
    fun cancel_ofAFullChannel_dropsTheRest() = runTest {
        filled().cancel()
        assertEquals(listOf(0, 1), dropped)
        assertEquals(0, channel.size)
        for (way in quietWays) way()
    }

    /** It used to fail: `for` threw that the channel was closed. */
    @Test
    fun cancel_whileSiblingsConsume_leavesTheirScopeAlive() = runTest {
        val ended = mutableListOf<String>()
        coroutineScope {
            launch {
                iterate(channel)
                yield()
                ended += "for"
            }
            launch {
                channel.asFlow().collect {}
                yield()
                ended += "flow"
            }
            launch {
                yield()
                channel.cancel()
            }
        }
        assertEquals(setOf("for", "flow"), ended.toSet())
    }

    @Test
    fun cancel_withACause_isACloseWithThatCause() = runTest {
        val why = ArithmeticException("why")
        filled().cancel(why)
        assertEquals(listOf(0, 1), dropped)
        assertSame(why, assertThrows<ArithmeticException> { iterate(channel) })
        assertSame(why, assertThrows<ArithmeticException> { channel.asFlow().toList() })
        assertNull(channel.receiveOrNull())
        for (call in receives + sends) assertRoot(why, assertThrows<ChannelClosedException> { call() })
    }

    @Test
    fun cancel_afterAClose_keepsWhatThatSaid() = runTest {
        filled().close()
        channel.cancel(ArithmeticException("why"))
        iterate(channel)
        assertEquals(listOf(0, 1), dropped)
    }

    /** Thrown by `for` it would end the consumer as if that had been cancelled, without a trace. */
    @Test
    fun close_withACancellation_isThrownAsTheCauseOfAnException() = runTest {
        val cancellation = CancellationException("stop")
        for (end in listOf<(Channel<Int>) -> Unit>({ it.close(cancellation) }, { it.cancel(cancellation) })) {
            val ended = Channel<Int>().also(end)
            for (way in listOf<suspend () -> Any?>({ iterate(ended) }, { ended.asFlow().toList() })) {
                assertSame(cancellation, assertThrows<ChannelClosedException> { way() }.cause)
            }
            assertFalse(ended.iterator().runCatching { hasNext() }.exceptionOrNull() is CancellationException)
        }
    }
}
