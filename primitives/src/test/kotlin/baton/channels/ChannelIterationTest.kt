package baton.channels

import baton.sync.assertContains
import baton.waiting.Caller
import baton.waiting.Callers
import baton.waiting.causes
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOf
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** `for`, flows, and the bridges to kotlinx's channels. */
class ChannelIterationTest {
    private val channel = Channel<Int>(10)

    private fun filled(count: Int) = channel.also { repeat(count) { i -> it.trySend(i) } }

    private val ways =
        listOf<suspend (MutableList<Int>) -> Unit>(
            { got -> for (element in channel) got += element },
            { got -> channel.asFlow().collect { got += it } },
            { got -> channel.receiveAsFlow().collect { got += it } },
        )

    @Test
    fun iteration_closedBeforeOrWhileItWaits_endsWhenDrained() = runTest {
        val got = mutableListOf<Int>()
        val loops = ways.map { way -> Callers(this).call { way(got) } }
        for (i in 0..2) channel.send(i)
        runCurrent()
        channel.close()
        runCurrent()
        assertTrue(loops.all { it.isServed }, "$loops")
        assertEquals(setOf(0, 1, 2), got.toSet())
        for (way in ways) way(got)
        assertEquals(3, got.size)
    }

    @Test
    fun iteration_closedWithACause_throwsItAfterTheRestAndAfterACancel() = runTest {
        val why = RuntimeException("why")
        filled(1).close(why)
        val got = mutableListOf<Int>()
        for (way in ways) assertSame(why, assertThrows<RuntimeException> { way(got) })
        assertEquals(listOf(0), got)
        channel.cancel()
        for (way in ways) assertSame(why, assertThrows<RuntimeException> { way(got) })
    }

    @Test
    fun for_brokenOff_leavesTheRest() = runTest {
        filled(3)
        for (element in channel) if (element == 1) break
        assertEquals(2, channel.receive())
    }

    @Test
    fun iterator_nextWithoutHasNext_isMisuse() = runTest {
        val iterator = filled(2).iterator()
        assertContains(assertThrows<IllegalStateException> { iterator.next() }.message, "hasNext()")
        assertTrue(iterator.hasNext())
        assertTrue(iterator.hasNext())
        assertEquals(0, iterator.next())
        assertThrows<IllegalStateException> { iterator.next() }
        assertTrue(iterator.hasNext())
        assertEquals(1, iterator.next())
        channel.close()
        repeat(2) { assertFalse(iterator.hasNext()) }
        assertThrows<IllegalStateException> { iterator.next() }
    }

    /** It waited for elements that the first one took. */
    @Test
    fun consumeAsFlow_aSecondCollector_isRefusedAndLeavesTheFirst() = runTest {
        val flow = channel.consumeAsFlow()
        val got = mutableListOf<Int>()
        val first = Callers(this).call { flow.collect { got += it } }
        val second = assertThrows<IllegalStateException> { flow.collect { got += it } }
        assertContains(second.message, "second collection", "Channel")
        channel.send(1)
        channel.close()
        runCurrent()
        assertTrue(first.isServed)
        assertEquals(listOf(1), got)
    }

    @Test
    fun consumeAsFlow_collectorStopsEarly_cancelsTheChannel() = runTest {
        filled(5)
        assertEquals(listOf(0, 1), channel.consumeAsFlow().take(2).toList())
        assertTrue(channel.isClosed)
        assertEquals(0, channel.size)
    }

    @Test
    fun asFlow_collectorStopsEarly_leavesTheRest() = runTest {
        filled(5)
        assertEquals(listOf(0, 1), channel.asFlow().take(2).toList())
        assertEquals(2, channel.asFlow().first())
        channel.close()
        assertEquals(listOf(3, 4), channel.asFlow().toList())
    }

    @Test
    fun asFlow_collectorIsCancelledWhileItCollects_nextElementStays() = runTest {
        filled(3)
        val got = mutableListOf<Int>()
        val collector = launch {
            channel.asFlow().collect {
                got += it
                currentCoroutineContext().cancel()
            }
        }
        collector.join()
        assertEquals(listOf(0), got)
        assertEquals(2, channel.size)
    }

    @Test
    fun asFlow_collectorIsCancelledBeforeItCollects_receivesNothing() = runTest {
        filled(1)
        val collector =
            Callers(this).callAtOnce {
                currentCoroutineContext().cancel()
                channel.asFlow().collect {}
            }
        assertTrue(collector.isCancelled)
        assertEquals(1, channel.size)
    }

    @Test
    fun flowSendTo_waitsForPlaces() = runTest {
        val target = Channel<Int>(1)
        val sender = launch { flowOf(1, 2, 3).sendTo(target) }
        runCurrent()
        assertEquals(1, target.size)
        assertEquals(listOf(1, 2, 3), List(3) { target.receive() })
        sender.join()
        assertFalse(target.isClosed)
    }

    @Test
    fun flowSendTo_targetCloses_endsTheCollection() = runTest {
        var emitted = 0
        val endless = flow { while (true) emit(emitted++) }
        val sender = Callers(this).call { endless.sendTo(channel) }
        channel.close()
        runCurrent()
        assertInstanceOf(ChannelClosedException::class.java, sender.failure)
        assertEquals(11, emitted)
    }

    private val undelivered = mutableListOf<Int>()

    @Test
    fun fromKotlinx_targetWithoutRoomEnds_elementInHandIsHandedBack() = runTest {
        val source = KotlinxChannel<Int>(5)
        val target = Channel<Int>()
        val ends = listOf<(Caller) -> Unit>({ it.cancel() }, { target.close() })
        for ((number, end) in ends.withIndex()) {
            source.send(number)
            val bridge = Callers(this).call { source.sendTo(target, undelivered::add) }
            assertEquals(1, target.waiting)
            end(bridge)
            runCurrent()
            assertEquals(number + 1, undelivered.size)
            assertEquals(0, target.waiting)
        }
        assertEquals(listOf(0, 1), undelivered)
    }

    @Test
    fun fromKotlinx_targetIsCancelledWhileSourceIsEmpty_elementInHandIsHandedBack() = runTest {
        val source = KotlinxChannel<Int>()
        val target = Channel<Int>(1)
        val bridge = Callers(this).call { source.sendTo(target, undelivered::add) }
        target.cancel()
        source.send(7)
        runCurrent()
        assertInstanceOf(ChannelClosedException::class.java, bridge.failure)
        assertEquals(listOf(7), undelivered)
    }

    @Test
    fun fromKotlinx_onUndeliveredThrows_doesNotReplaceTheReason() = runTest {
        val source = KotlinxChannel<Int>(5)
        val handler = RuntimeException("handler")
        for (capacity in 0..1) {
            val target = Channel<Int>(capacity)
            val bridge = Callers(this).call { source.sendTo(target) { throw handler } }
            target.cancel()
            source.send(1)
            runCurrent()
            val failure = assertInstanceOf(ChannelClosedException::class.java, bridge.failure)
            assertTrue(failure.causes().any { handler in it.suppressed })
        }
        source.tryReceive()
        val target = Channel<Int>()
        source.send(2)
        val bridge = Callers(this).call { source.sendTo(target) { throw handler } }
        bridge.cancel()
        runCurrent()
        assertTrue(bridge.isCancelled, "$bridge")
        assertTrue(bridge.failure!!.causes().any { handler in it.suppressed })
    }

    @Test
    fun fromKotlinx_sendsAllAndClosesNeither() = runTest {
        for (capacity in 0..2) {
            val source = KotlinxChannel<Int>(5)
            val target = Channel<Int>(capacity)
            val bridge = launch { source.sendTo(target, undelivered::add) }
            repeat(5) { source.send(it) }
            assertEquals((0..4).toList(), List(5) { target.receive() })
            source.close()
            bridge.join()
            assertFalse(target.isClosed)
            repeat(capacity) { assertTrue(target.trySend(it).isSuccess, "a place was kept") }
        }
    }

    @Test
    fun fromKotlinx_cancelledWhileTargetIsFull_hasTakenNothingOut() = runTest {
        val source = KotlinxChannel<Int>(5).also { it.trySend(1) }
        val target = Channel<Int>(1).also { it.trySend(0) }
        val bridge = Callers(this).call { source.sendTo(target, undelivered::add) }
        bridge.cancel()
        runCurrent()
        assertTrue(bridge.isCancelled)
        assertEquals(1, source.receive())
        assertEquals(0, target.waiting)
    }

    @Test
    fun fromKotlinx_cancelledWhileSourceIsEmpty_givesThePlaceBack() = runTest {
        val source = KotlinxChannel<Int>()
        val target = Channel<Int>(1)
        val bridge = Callers(this).call { source.sendTo(target, undelivered::add) }
        assertFalse(target.trySend(1).isSuccess)
        bridge.cancel()
        runCurrent()
        assertTrue(target.trySend(1).isSuccess)
    }

    @Test
    fun fromKotlinx_sourceFails_throwsThat() = runTest {
        for (capacity in 0..1) {
            val why = RuntimeException("why")
            val source = KotlinxChannel<Int>().also { it.close(why) }
            val bridge = Callers(this).call { source.sendTo(Channel(capacity), undelivered::add) }
            assertEquals("why", bridge.failure?.message)
        }
    }

    @Test
    fun toKotlinx_sendsAllAndClosesNeither() = runTest {
        val target = KotlinxChannel<Int>()
        val bridge = launch { filled(3).sendTo(target) }
        assertEquals(listOf(0, 1, 2), List(3) { target.receive() })
        channel.close()
        bridge.join()
        assertTrue(target.trySend(1).isFailure && !target.trySend(1).isClosed)
    }

    @Test
    fun receiveOrNull_cancelledCoroutine_throwsThat() = runTest {
        val caller = Callers(this).call { channel.receiveOrNull() }
        caller.cancel()
        runCurrent()
        assertInstanceOf(CancellationException::class.java, caller.failure)
    }
}
