package baton.channels

import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectInstance

/** Offers its element. If it gets a place instead of a receiver, it sends when the select runs. */
@OptIn(InternalCoroutinesApi::class)
internal class SendClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
        SelectWaiter(channel.core, channel.levelIn(select.context, null), ChannelState.wrap(param), clause, select)

    override fun valueOf(winner: SelectWaiter): Channel<E> {
        channel.core.sendIfNotSent(winner)
        return channel
    }
}

@OptIn(InternalCoroutinesApi::class)
internal open class ReceiveClause<E>(private val channel: Channel<E>) : SelectableCore() {
    override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
        SelectWaiter(channel.core, number = 0, ChannelState.RECEIVE, clause, select)

    override fun valueOf(winner: SelectWaiter): Any? = channel.core.grantOf(winner, null)
}

internal class ReceiveCatchingClause<E>(private val channel: Channel<E>) : ReceiveClause<E>(channel) {
    override fun result(result: Any?): Any? = unlessClosed { ChannelResult.success(super.result(result)) }
}
