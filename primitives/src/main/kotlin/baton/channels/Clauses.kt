package baton.channels

import baton.waiting.SelectWaiter
import baton.waiting.SelectableCore
import baton.waiting.Waiter
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectInstance

/** Asks for a place, and sends when the select runs. */
@OptIn(InternalCoroutinesApi::class)
internal class SendClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter {
        val level = channel.levelIn(select.context, null)
        return SelectWaiter(channel.core, level, ChannelCore.PLACE, clause, select, offer = ChannelCore.wrap(param))
    }

    override fun valueOf(winner: SelectWaiter): Channel<E> {
        val element = checkNotNull(winner.offer)
        if (!channel.core.sendReserved(element, winner.weight)) throw channel.core.closedException()
        return channel
    }
}

@OptIn(InternalCoroutinesApi::class)
internal open class ReceiveClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
        SelectWaiter(channel.core, weight = 0, ChannelCore.RECEIVE, clause, select)

    override fun valueOf(winner: SelectWaiter): Any? = channel.core.grantOf(winner, null)
}

internal class ReceiveCatchingClause<E>(private val channel: Channel<E>) : ReceiveClause<E>(channel) {
    override fun result(result: Any?): Any? =
        unlessClosed { ChannelResult.success(super.result(result)) }
}
