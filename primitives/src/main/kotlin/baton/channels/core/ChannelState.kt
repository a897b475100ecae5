package baton.channels.core

import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.waiting.ClauseWaiter
import baton.waiting.FifoWaitQueue
import baton.waiting.PriorityWaitQueue
import baton.waiting.Symbol
import baton.waiting.WaitCore
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.Wakeup
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

/*
 * The buffered elements and the waiters of a channel, and the steps of its operations (see ChannelCore.kt).
 *
 * Everything but `arrivals` is guarded by the lock; an operation is a few dozen instructions under it.
 *
 *   buffer               the elements in the channel: those sent, and before them those that receivers returned
 *   reserved             places granted to a sender that sends, or returns the place, later
 *   handedOut, arrivals  how many elements went to receivers that may still return them; how many of those arrived
 *   receivers, senders   the queues of waiters. A queued sender brings its element with it, or asks for a PLACE
 *   endWatchers          waiters for the channel to be closed and drained, which are granted nothing
 *   closure, isCancelled no more sends; no more receives
 *   closeHandlers        users' functions to call at the close; onCancel the entry that cancels the producer
 *
 *   room = capacity + receivers − buffer − reserved
 *
 * (1) A receiver waits only while there is nothing to receive: receivers > 0 implies that buffer is empty.
 * (2) Senders wait only while room ≤ 0 (except in case 5), and only if onFull is SUSPEND. Every change that makes room
 *     ends in admitSenders(), so no newcomer overtakes them.
 * (3) An element that is handed to a receiver has left the channel. If the receiver cannot take it, the element returns
 *     with the number under which it was handed out: to the receiver at the head of the queue, else to the buffer
 *     before all elements that were not handed out. So the channel can hold more than its capacity.
 * (4) A sender that brings its element is served for good as soon as that is taken (isFinal): it returns normally even
 *     if it is cancelled before it runs. A reservation, and a clause of a select for which there is room, gets a place
 *     and sends when it runs. Meanwhile no other sender gets that place.
 * (5) A select that waits both to send and to receive here does not send to itself.
 * (6) The channel is closed and drained when closure is set and no element is buffered, reserved for, or handed out
 *     without having arrived; or when the channel was cancelled. Then no receiver and no end watcher waits.
 * (7) A channel that drops elements has room for every element: no sender waits, and reserved stays 0.
 * (8) A sender that meets a receiving clause of a select asks that select before its own operation ends, and so does a
 *     receiving clause that meets a sending one (ClauseWaiter, 1). The clause leaves the queue first; the lock is free
 *     while its select decides. After a refusal the operation starts again. So of two selects that meet, one sends and
 *     the other receives. An element without a sender that could wait for the select's decision (one returned, or sent
 *     to a place) is handed to a receiving clause as to any receiver, and returns by (3).
 *     Where receivers and senders wait because places are reserved, such a meeting passes over earlier receivers.
 * (9) A clause that sends to a channel with room, or to a receiver that is no clause, gets a place and sends when its
 *     select runs; a select that is cancelled before that sends nothing. So a receiver that is no clause does not ask a
 *     sending clause: it waits, and that makes room.
 *
 * Sources: deciding under a lock and waking after it is that of tokio's channels; returning the element of a receiver
 * that was cancelled avoids the loss described in kotlinx.coroutines #4337.
 */
internal abstract class ChannelState<E>(
    capacity: Int,
    @JvmField protected val order: ChannelOrder,
    @JvmField protected val onFull: OnFull,
    @JvmField protected val onDropped: ((E) -> Unit)?,
) : WaitCore() {
    @Volatile
    var capacity: Int = capacity
        protected set

    protected var buffer = ElementBuffer(order)
    protected var reserved = 0
    protected var handedOut = 0L

    @Volatile private var arrivals = 0L
    protected val receivers = FifoWaitQueue()
    protected val endWatchers = FifoWaitQueue()
    protected val senders: WaitQueue =
        if (order == ChannelOrder.PRIORITY) PriorityWaitQueue { it.level } else FifoWaitQueue()

    @Volatile protected var closure: Closure? = null

    @Volatile
    var isCancelled: Boolean = false
        protected set

    /** Those to call when the channel is closed, in the order of their registration. Null while there are none. */
    protected var closeHandlers: LinkedHashSet<CloseHandler>? = null

    /** Woken, before all waiters, when the channel is cancelled. Set before the channel is shared. */
    var onCancel: Wakeup? = null

    protected class Closure(val cause: Throwable?)

    /** Invariant 6. */
    protected val isDrained: Boolean
        get() = isCancelled || (closure != null && buffer.size == 0 && reserved == 0 && handedOut == arrivals)

    /** The closure of a channel that was closed. */
    protected val end: Closure
        get() = checkNotNull(closure)

    protected val dropsOnFull: Boolean
        get() = onFull != OnFull.SUSPEND

    protected val room: Long
        get() = capacity.toLong() + receivers.size - buffer.size - reserved

    /** DONE, BUSY, or the receiving clause whose select must be asked. */
    protected fun offerUnderLock(element: Any, level: Int): Any {
        if (room > 0) {
            val met = meetReceiver(element, selectId = null)
            if (met != null) return met
        }
        when {
            room > 0 -> buffer.add(element, level)
            onFull == OnFull.SUSPEND -> return Outcome.BUSY
            onFull == OnFull.DROP_LATEST || buffer.size == 0 -> dropElement(element)
            else -> {
                buffer.add(element, level)
                dropSurplus()
            }
        }
        return Outcome.DONE
    }

    /**
     * DONE, the receiving clause whose select must be asked, or null if there is no receiver. For a sender that is a
     * clause of [selectId], the receiving clauses of that select are skipped.
     */
    protected fun meetReceiver(element: Any, selectId: Any?): Any? {
        val receiver = (if (selectId == null) receivers.head() else receivers.headBut(selectId)) ?: return null
        receivers.remove(receiver)
        if (receiver is ClauseWaiter) receiver.isOffered = receiver.canBeAsked
        grantElementQueued(receiver, element, buffer.nextNumber())
        if (receiver is ClauseWaiter && receiver.isOffered) return receiver
        wake(receiver)
        return Outcome.DONE
    }

    /** Accepts [element], which can no longer be refused. */
    protected fun addElement(element: Any, level: Int) {
        if (!handOver(element, buffer.nextNumber())) buffer.add(element, level)
    }

    /** Hands [element] to the first receiver. A clause that refuses returns it. */
    protected fun handOver(element: Any, number: Int): Boolean {
        val receiver = receivers.head() ?: return false
        receivers.remove(receiver)
        grantElementQueued(receiver, element, number)
        wake(receiver)
        return true
    }

    /** False when [receiver], which enqueues, was withdrawn. */
    protected fun grantElement(receiver: Waiter, element: Any, number: Int): Boolean {
        receiver.setReceived(element, number)
        if (!receiver.tryGrant()) return false
        if (receiver.isConfirming) handedOut++
        return true
    }

    /** As [grantElement], to a [receiver] that was queued. */
    private fun grantElementQueued(receiver: Waiter, element: Any, number: Int) {
        receiver.setReceived(element, number)
        receiver.grantQueued()
        if (receiver.isConfirming) handedOut++
    }

    protected fun returnPlaceUnderLock() {
        reserved--
        admitSenders()
        endIfDrained()
    }

    /** Serves waiting senders for as long as there is room (invariant 2). */
    protected fun admitSenders() {
        while (room > 0) {
            val sender = nextSender() ?: return
            senders.remove(sender)
            sender.grantQueued()
            senders.served(sender)
            serveSender(sender)
            wake(sender)
        }
    }

    /** Gives a granted sender the place it asks for, or accepts its element. */
    protected fun serveSender(sender: Waiter) {
        val asked = sender.asked
        if (asked === PLACE || sender is ClauseWaiter) reserved++ else addElement(asked, sender.level)
    }

    /** The next sender to serve. Skips clauses of a select that could only send to itself (invariant 5). */
    protected fun nextSender(): Waiter? {
        val head = senders.head() ?: return null
        val selectId = head.selectId
        return if (selectId != null && isOnlyPromisedTo(selectId)) senders.headBut(selectId) else head
    }

    /** Whether all the room is that of the receiving clauses of this very select. */
    protected fun isOnlyPromisedTo(selectId: Any): Boolean =
        receivers.size > 0 && room <= receivers.size && receivers.headBut(selectId) == null

    /**
     * Takes an element for a newcomer. While receivers are queued there is none: they may wait for the holder of a
     * place, and the element of a sender queued behind that place is theirs.
     */
    protected fun takeInOrder(): Any = if (receivers.size > 0) EMPTY else takeElement(selectId = null)

    /**
     * Takes an element regardless of queued receivers; [ElementBuffer.lastTaken] is its number. For a receiver that is
     * a clause of [selectId], the sending clauses of that select are skipped, and the result may be a sending clause
     * whose select must be asked; the caller must then call [elementArrived].
     */
    protected fun takeElement(selectId: Any?): Any {
        if (buffer.size > 0) {
            val element = buffer.takeFirst()
            admitSenders()
            return element
        }
        if (isDrained) return CLOSED
        val sender = (if (selectId == null) senders.head() else senders.headBut(selectId)) ?: return EMPTY
        // A reservation or a clause sends only once it has a receiver, so this receiver must wait.
        if (sender.reserves) return EMPTY
        if (sender is ClauseWaiter && (selectId == null || !sender.canBeAsked)) return EMPTY
        senders.remove(sender)
        if (sender is ClauseWaiter) {
            sender.isOffered = true
            sender.isSent = true
        }
        sender.grantQueued()
        senders.served(sender)
        buffer.numberHandedOver()
        if (sender is ClauseWaiter) {
            handedOut++
            return sender
        }
        wake(sender)
        return sender.asked
    }

    /** Returns an element that its receiver did not take (invariant 3). */
    protected fun returnElement(element: Any, number: Int) {
        if (isCancelled) return dropElement(element)
        if (handOver(element, number)) return
        buffer.returnElement(element, number)
        if (onFull == OnFull.DROP_OLDEST) dropSurplus()
    }

    /** An element that was handed out has reached its receiver and can no longer return. */
    protected fun elementArrived() {
        ARRIVALS.getAndAdd(this, 1L)
        // Either this thread sees the closure, or the thread that closes sees the arrival.
        if (closure != null) decide { endIfDrained() }
    }

    protected fun dropElement(element: Any) {
        if (onDropped != null) wake(DropNotification(onDropped, element, null))
    }

    protected fun dropSurplus() {
        while (room < 0 && buffer.size > 0) dropElement(buffer.removeOldest())
    }

    protected fun closeUnderLock(cause: Throwable?) {
        closure = Closure(cause)
        failAll(senders)
    }

    protected fun addCloseHandler(handler: CloseHandler) {
        val handlers = closeHandlers ?: LinkedHashSet<CloseHandler>().also { closeHandlers = it }
        handlers += handler
    }

    protected fun wakeCloseHandlers() {
        closeHandlers?.forEach(::wakeCloseHandler)
        closeHandlers = null
    }

    protected fun wakeCloseHandler(handler: CloseHandler) {
        handler.cause = end.cause
        wake(handler)
    }

    protected fun endIfDrained() {
        if (isDrained) failReceivers()
    }

    protected fun failReceivers() {
        failAll(receivers)
        failAll(endWatchers)
    }

    protected fun failAll(queue: WaitQueue) {
        queue.forEach { waiter ->
            queue.remove(waiter)
            waiter.failQueued(end)
            wake(waiter)
        }
    }

    internal enum class Outcome {
        DONE,
        BUSY,
        CLOSED,
    }

    internal companion object {
        /** The request of a receiver. */
        val RECEIVE = Symbol("RECEIVE")

        /** The request of a sender that reserves a place; the request of others is their element. */
        val PLACE = Symbol("PLACE")

        /** The request of an end watcher, which is granted nothing and fails when the channel is closed and drained. */
        val END = Symbol("END")

        /** The result of a take when there is no element now. */
        val EMPTY = Symbol("EMPTY")

        /** The result of a take when there will be no more elements. */
        val CLOSED = Symbol("CLOSED")

        /** Stands for an element that is null. */
        val NULL = Symbol("NULL")

        private val ARRIVALS: VarHandle =
            MethodHandles.lookup().findVarHandle(ChannelCore::class.java, "arrivals", Long::class.javaPrimitiveType)

        /** An element as the core stores it: null as [NULL]. */
        fun wrap(element: Any?): Any = element ?: NULL

        fun unwrap(element: Any?): Any? = if (element === NULL) null else element
    }
}
