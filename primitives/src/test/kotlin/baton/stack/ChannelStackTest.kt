package baton.stack

import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.channels.receiveOrNull
import baton.sync.LateDispatcher
import baton.waiting.Enough
import kotlinx.coroutines.Job
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many elements, each of which sets the next in motion. Runs with a small stack. */
class ChannelStackTest : StackRun() {
    /** Each receives, and sends to the next. */
    @ParameterizedTest
    @EnumSource
    fun chain_handsOneElementOn(world: World) {
        val channel = Channel<Int>()
        repeat(MANY) { start(world.context) { channel.send(channel.receive() + 1) } }
        assertEquals(MANY, channel.waiting)
        assertTrue(channel.trySend(0).isSuccess)
        assertEquals(MANY - 1, done)
        assertEquals(MANY, channel.tryReceive().getOrThrow())
        assertEquals(MANY, done)
    }

    @ParameterizedTest
    @EnumSource
    fun chainOfSelects_handsOneElementOn(world: World) {
        val channel = Channel<Int>()
        repeat(MANY) {
            start(world.context) {
                val element = select { channel.onReceive { it } }
                select { channel.onSend(element + 1) {} }
            }
        }
        assertTrue(channel.trySend(0).isSuccess)
        var last: Int? = null
        start(world.context) { last = channel.receive() }
        assertEquals(MANY, last)
        assertEquals(MANY + 1, done)
    }

    @ParameterizedTest
    @EnumSource
    fun pingPong_ofTwo(world: World) {
        for (capacity in 0..1) {
            done = 0
            val there = Channel<Int>(capacity)
            val back = Channel<Int>(capacity)
            start(world.context) { for (element in there) back.send(element + 1) }
            start(world.context) {
                var element = 0
                while (element < MANY) {
                    there.send(element)
                    element = back.receive()
                }
                there.close()
            }
            assertEquals(2, done)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun senders_allWait_comeInOneAfterTheOther(world: World) {
        for (order in ChannelOrder.entries) {
            done = 0
            val channel = Channel<Int>(order = order)
            repeat(MANY) { start(world.context) { channel.send(it) } }
            var sum = 0L
            start(world.context) { repeat(MANY) { sum += channel.receive() } }
            assertEquals(MANY + 1, done)
            assertEquals(MANY * (MANY - 1L) / 2, sum)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun close_failsAllSendersAndReceivers(world: World) {
        for (send in listOf(true, false)) {
            failed = 0
            val channel = Channel<Int>()
            repeat(MANY) { start(world.context) { if (send) channel.send(it) else channel.receive() } }
            channel.close()
            assertEquals(MANY, failed)
            assertEquals(0, channel.waiting)
        }
    }

    /** Each closes the channel that the next one waits for. */
    @ParameterizedTest
    @EnumSource
    fun close_inAChain(world: World) {
        val channels = List(MANY + 1) { Channel<Int>() }
        for (i in 0 until MANY) {
            start(world.context) {
                channels[i].receiveOrNull()
                channels[i + 1].close()
            }
        }
        channels[0].close()
        assertEquals(MANY, done)
    }

    @ParameterizedTest
    @EnumSource
    fun receivers_cancelledInAChain(world: World) {
        val channel = Channel<Int>()
        cancelInAChain(world, MANY) { next -> finally(next) { channel.receive() } }
        assertEquals(0, channel.waiting)
    }

    /** They get the element, and are cancelled before they run: each gives it back to the next. */
    @Test
    fun element_handedToOneCancelledAfterTheOther() {
        val channel = Channel<Int>()
        val late = LateDispatcher()
        val job = Job()
        repeat(MANY) { start(late + job) { channel.receive() } }
        late.run()
        channel.trySend(7)
        job.cancel(Enough)
        late.run()
        assertEquals(MANY, failed)
        assertEquals(7, channel.tryReceive().getOrThrow())
    }

    @Test
    fun onDropped_sendsAgain() {
        var left = MANY
        lateinit var channel: Channel<Int>
        channel = Channel(1, onFull = OnFull.DROP_OLDEST) { if (left-- > 0) channel.trySend(it) }
        repeat(2) { channel.trySend(it) }
        assertEquals(-1, left)
        assertEquals(1, channel.size)
    }

    @Test
    fun onDropped_cancelsTheNextChannel() {
        var dropped = 0
        val channels = ArrayList<Channel<Int>>(MANY)
        repeat(MANY) { n ->
            channels +=
                Channel<Int>(1) {
                        dropped++
                        if (n > 0) channels[n - 1].cancel()
                    }
                    .also { it.trySend(n) }
        }
        channels.last().cancel()
        assertEquals(MANY, dropped)
    }
}
