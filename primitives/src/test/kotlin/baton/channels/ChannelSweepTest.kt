package baton.channels

import baton.Priority
import baton.channels.contract.ChannelPlan
import baton.channels.contract.drain
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.flow.firstOrNull
import kotlinx.coroutines.selects.SelectBuilder
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two operations before every single step that the two, and the senders and receivers beside them, can
 * make. Each element of an operation that returned must be received or dropped, once, and no other element. All places
 * must be free again.
 */
class ChannelSweepTest {
    /** One channel, and the elements that went in and out of it. */
    private class World(plan: ChannelPlan, private val filled: Int) {
        val sent = mutableListOf<String>()
        val out = mutableListOf<String>()
        private val inDoubt = mutableListOf<String>()
        private val outOfSelects = mutableListOf<String>()
        val channel = Channel<String>(plan.capacity, plan.order, plan.onFull, plan.name, out::add)

        init {
            repeat(filled) { trySend("filling $it") }
        }

        suspend fun send(element: String) {
            channel.send(element)
            sent += element
        }

        suspend fun receive() {
            out += channel.receive()
        }

        fun trySend(element: String): Boolean = channel.trySend(element).isSuccess.also { if (it) sent += element }

        fun tryReceive(): Boolean {
            out += channel.tryReceive().getOrNull() ?: return false
            return true
        }

        fun check(capacity: Int) {
            assertEquals(0, channel.waiting)
            if (!channel.isClosed) {
                while (tryReceive()) continue
                assertEquals(0, channel.size)
                if (channel.onFull == OnFull.SUSPEND && channel.capacity == capacity) {
                    repeat(capacity) { assertTrue(trySend("after $it"), "a place is missing") }
                    assertFalse(trySend("after all"), "a place too many")
                }
            }
            channel.cancel()
            // Two selects agree in one step; the sending one may be cancelled before it runs.
            val crossed = out.filter { it !in sent && it in inDoubt && it in outOfSelects }
            assertEquals((sent + crossed).sorted(), out.sorted())
        }

        /** Offers [element] in a select that receives as well, if that is wanted. */
        suspend fun selectSend(element: String, others: SelectBuilder<Unit>.() -> Unit = {}) {
            try {
                select<Unit> {
                    channel.onSend(element) { sent += element }
                    others()
                }
            } catch (e: CancellationException) {
                inDoubt += element
                throw e
            }
        }

        fun outOfSelect(element: String) {
            out += element
            outOfSelects += element
        }

        override fun toString() = "sent $sent, out $out, $channel"
    }

    private class Op(val name: String, val call: suspend World.(String) -> Unit) {
        override fun toString() = name
    }

    private val receive = Op("receive") { receive() }

    private val ops =
        listOf(
            receive,
            Op("send") { send(it) },
            Op("trySend(1s)") { if (channel.trySend(it, 1.seconds).isSuccess) sent += it },
            Op("receive, receive") {
                receive()
                receive()
            },
            Op("receiveUpTo(2)") { out += channel.receiveUpTo(2) },
            Op("receiveUpTo(3), send") {
                out += channel.receiveUpTo(3)
                send(it)
            },
            Op("receive, send") {
                receive()
                send(it)
            },
            Op("tryReceive(1s)") { out += channel.tryReceive(1.seconds).getOrNull() ?: return@Op },
            Op("first of the flow") { out += channel.asFlow().firstOrNull() ?: return@Op },
            Op("select send") { element -> selectSend(element) },
            Op("select receive or timeout") {
                select {
                    channel.onReceive { outOfSelect(it) }
                    onTimeout(1.seconds) {}
                }
            },
            Op("select send or receive") { element -> selectSend(element) { channel.onReceive { outOfSelect(it) } } },
            Op("select beside a channel that has something") { element ->
                val other = KotlinxChannel<Int>(1)
                other.send(0)
                selectSend(element) {
                    channel.onReceiveCatching { result -> result.getOrNull()?.let { outOfSelect(it) } }
                    other.onReceive {}
                }
            },
            Op("reserve and send") { element ->
                if (channel.capacity > 0) {
                    channel.reserve().use {
                        yield()
                        it.send(element)
                        sent += element
                    }
                }
            },
            Op("reserve and give back") { if (channel.capacity > 0) channel.reserve().use { yield() } },
            Op("close") { channel.close() },
            Op("cancel") { channel.cancel() },
            Op("resize") { channel.resize(channel.capacity + 1) },
        )

    private inner class ElementSweep(private val plan: ChannelPlan, private val filled: Int) :
        CancelSweep<World, Op>(ops) {
        override val start = "$filled filled"

        override fun create(dispatcher: StepDispatcher) = World(plan, filled)

        override suspend fun call(op: Op, world: World, caller: String): Int {
            op.call(world, caller)
            return 0
        }

        override fun SweepRun<World>.beside() {
            turn { world.tryReceive() }
            turn { world.trySend("turn") }
        }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            // A caller that waits now waits for a caller on the other side.
            val calls = mutableListOf(first, second)
            while (calls.any { !it.isCompleted }) {
                assertTrue(calls.size < 9, "a caller waits, and no other caller can meet it")
                if (!world.tryReceive() && !world.trySend("last")) {
                    calls += start(Priority.NORMAL) { call(receive, it, "") }
                }
                drain()
            }
            calls.forEach { call -> call.throwUnless { it is ChannelClosedException } }
            world.check(plan.capacity)
        }
    }

    private fun sweep(plan: ChannelPlan, filled: Int) = ElementSweep(plan, filled).run()

    @Test
    fun cancelledAtAnyStep_isAsIfNeverCalledOrAsIfServed() {
        var runs = 0
        for (capacity in 0..1) for (filled in 0..capacity) runs += sweep(ChannelPlan(capacity), filled)
        runs += sweep(ChannelPlan(1, ChannelOrder.PRIORITY), filled = 1)
        assertTrue(runs > 30_000, "only $runs runs")
    }

    @Test
    fun droppingAndCancelledAtAnyStep_isAsIfNeverCalledOrAsIfServed() {
        var runs = 0
        for (onFull in listOf(OnFull.DROP_OLDEST, OnFull.DROP_LATEST)) {
            runs += sweep(ChannelPlan(1, onFull = onFull), filled = 1)
        }
        assertTrue(runs > 10_000, "only $runs runs")
    }
}
