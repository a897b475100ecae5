package baton.channels.contract

import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.waiting.Caller
import baton.waiting.Callers
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals

/** The common part of the topics of the channel's contract. */
interface ChannelFixture {
    val factory: ChannelFactory

    /** Whether all callers are selects, which agree in one step: a sender may be cancelled when it has sent. */
    val meetInOneStep: Boolean
        get() = false

    /** Whether all waiters are of one kind, and a waiting sender has its element with it. */
    val isPlain: Boolean
        get() = false

    /** Whether an element that was handed to a receiver is given back if the receiver is cancelled before it runs. */
    val elementsReturn: Boolean
        get() = true

    /** Whether timeouts run in the virtual time of the calling coroutine. */
    val hasVirtualTime: Boolean
        get() = false

    /** How many random sequences are run for each kind of channel; fewer where every caller is a thread. */
    val sequences: Int
        get() = 200

    fun channel(
        capacity: Int = Channel.RENDEZVOUS,
        order: ChannelOrder = ChannelOrder.FIFO,
        onFull: OnFull = OnFull.SUSPEND,
        name: String? = null,
        onDropped: ((String) -> Unit)? = null,
    ): ChannelFace = factory(ChannelPlan(capacity, order, onFull, name, onDropped))
}

/**
 * The contract of a channel for every kind of caller: a suspend function, a `select`, a future, or all in one queue.
 * The `WaiterContract` says how its callers wait.
 */
abstract class ChannelContract(override val factory: ChannelFactory) : ChannelAgainstModel, ChannelEdges

/** The receivers of one test, and the elements they got. */
class Receivers(scope: TestScope, private val channel: ChannelFace) {
    private val callers = Callers(scope)

    /** The received elements, in the order in which they arrived. */
    val got: MutableList<String> = mutableListOf()

    fun receive(name: String = "receiver"): Caller = callers.call(name) { got += channel.receive() }

    fun receiveAtOnce(name: String = "receiver"): Caller = callers.callAtOnce(name) { got += channel.receive() }
}

fun assertState(channel: ChannelFace, size: Int, waiting: Int = 0) {
    assertEquals("size = $size, waiting = $waiting", "size = ${channel.size}, waiting = ${channel.waiting}")
}

fun ChannelFace.fill(vararg elements: String): ChannelFace {
    for (element in elements) check(trySend(element)) { "$this is full" }
    return this
}

/** Receives the elements that are available now, one after the other. */
fun TestScope.drain(channel: ChannelFace): List<String> {
    val drained = mutableListOf<String>()
    while (true) {
        runCurrent()
        drained += (if (channel.size > 0 || !channel.isClosed) channel.tryReceive() else null) ?: return drained
    }
}
