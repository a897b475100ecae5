package baton.channels.core

import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.monitoring.Monitored
import baton.waiting.ClauseWaiter
import baton.waiting.Waiter
import baton.waiting.labelOf
import baton.waiting.threads.requireStack

/*
 * How it works
 *
 * The operations of a channel that do not wait: each is one or several steps under the lock. The steps and their
 * invariants are in ChannelState.kt, the operations of waiters in ChannelWaiting.kt. An operation that meets a clause of
 * a select releases the lock, asks that select, and repeats its step after a refusal (8).
 */
internal class ChannelCore<E>(
    capacity: Int,
    order: ChannelOrder,
    onFull: OnFull,
    onDropped: ((E) -> Unit)?,
    private val channel: Monitored,
) : ChannelWaiting<E>(capacity, order, onFull, onDropped) {
    val size: Int
        get() = decide { buffer.size }

    val waiting: Int
        get() = decide { receivers.size + senders.size }

    val isClosed: Boolean
        get() = closure != null

    val isClosedForReceive: Boolean
        get() = isClosed && decide { isDrained }

    /** The places that are neither taken nor reserved. A receiver that waits does not make one. */
    val remainingCapacity: Int
        get() = decide { (room - receivers.size).coerceAtLeast(0).toInt() }

    // ---- send

    /** Takes [element] if that needs no waiting. */
    fun offer(element: Any, level: Int): Outcome {
        var refuser: ClauseWaiter? = null
        while (true) {
            val step = decide { offerAgain(element, level, refuser) }
            if (step is Outcome) return step
            refuser = step as ClauseWaiter
            if (refuser.accepts()) return Outcome.DONE
        }
    }

    private fun offerAgain(element: Any, level: Int, refuser: ClauseWaiter?): Any {
        if (refuser != null) takeBackOffer(refuser)
        return if (closure != null) Outcome.CLOSED else offerUnderLock(element, level)
    }

    /** Reserves a place if that needs no waiting. */
    fun reserve(): Outcome = decide {
        when {
            closure != null -> Outcome.CLOSED
            dropsOnFull -> Outcome.DONE
            room <= 0 -> Outcome.BUSY
            else -> Outcome.DONE.also { reserved++ }
        }
    }

    /** Sends [element] to a reserved place. False when the channel was cancelled or, if it drops elements, closed. */
    fun sendReserved(element: Any, level: Int): Boolean {
        if (dropsOnFull) return offer(element, level) == Outcome.DONE
        return decide {
            if (isCancelled) return@decide false
            reserved--
            addElement(element, level)
            endIfDrained()
            true
        }
    }

    /** Sends the element of the sending clause that won, unless a receiver has taken it. Throws if cancelled. */
    fun sendIfNotSent(winner: ClauseWaiter) {
        if (!winner.isSent && !sendReserved(winner.asked, winner.level)) throw closedException()
    }

    /** Returns a reserved place. */
    fun leavePlace() {
        if (!dropsOnFull) decide { returnPlaceUnderLock() }
    }

    // ---- receive

    /** Takes the next element; [EMPTY] if there is none now, [CLOSED] if there will be none. */
    fun poll(): Any = decide { takeInOrder().also { endIfDrained() } }

    /**
     * As [poll] as often as it succeeds, up to [limit] times: a list of those elements, unwrapped, or EMPTY or CLOSED.
     */
    fun pollUpTo(limit: Int): Any = decide { takeUpTo(limit, first = EMPTY) }

    /** The element [first], which a receiver was granted, with those that are there now, up to [limit] in all. */
    fun withMore(first: Any, limit: Int): List<Any?> = decide { listFrom(first, limit) }

    /**
     * As [withMore] for the grant of [receiver]. All threads that ask for it get the same list, with what was there
     * once.
     */
    fun receivedUpTo(receiver: Waiter, limit: Int): List<Any?> = decide {
        val granted = receiver.received
        if (granted is ReceivedList) granted.elements
        else listFrom(granted, limit).also { receiver.outcome = ReceivedList(it) }
    }

    private class ReceivedList(val elements: List<Any?>)

    /** Without memory or stack for more there is still [first], which has left the channel. */
    private fun listFrom(first: Any, limit: Int): List<Any?> =
        try {
            @Suppress("UNCHECKED_CAST") // It has an element.
            takeUpTo(limit, first) as List<Any?>
        } catch (_: VirtualMachineError) {
            listOf(unwrap(first))
        }

    /** If it throws it has taken nothing: the list has room for all before the first is taken. */
    private fun takeUpTo(limit: Int, first: Any): Any {
        requireStack()
        val elements = ArrayList<Any?>(minOf(limit.toLong(), 1L + buffer.size + senders.size).toInt())
        var next = first
        while (true) {
            if (next !== EMPTY) elements += unwrap(next)
            if (elements.size == limit) break
            next = takeInOrder()
            if (next === EMPTY || next === CLOSED) break
        }
        endIfDrained()
        return if (elements.isEmpty()) next else elements
    }

    /** As [poll], but returns a null element to its former position; a sender may have been admitted meanwhile. */
    fun pollPresent(): Any = decide {
        takeInOrder().also {
            if (it === NULL) returnElement(it, buffer.lastTaken)
            endIfDrained()
        }
    }

    // ---- resize, close

    /** False when closed. */
    fun resize(newCapacity: Int): Boolean = decide {
        if (closure != null) return@decide false
        capacity = newCapacity
        admitSenders()
        true
    }

    /** Refuses all further sends; buffered elements can still be received. False when it was closed before. */
    fun close(cause: Throwable?): Boolean = decide {
        if (closure != null) return@decide false
        closeUnderLock(cause)
        endIfDrained()
        wakeCloseHandlers()
        true
    }

    /** Refuses all further sends and receives, and drops the buffered elements. */
    fun cancel(cause: Throwable?) {
        decide {
            if (isCancelled) return@decide
            isCancelled = true
            val closesNow = closure == null
            onCancel?.let(::wake)
            onCancel = null
            if (closesNow) closeUnderLock(cause)
            if (buffer.size > 0 && onDropped != null) wake(DropNotification(onDropped, null, buffer))
            buffer = ElementBuffer(order)
            failReceivers()
            if (closesNow) wakeCloseHandlers()
        }
    }

    /** Calls [handler] when the channel is closed; at once if it is. */
    fun invokeOnClose(handler: CloseHandler) {
        decide { if (closure == null) addCloseHandler(handler) else wakeCloseHandler(handler) }
    }

    /** Drops [handler] if it was not woken before. */
    fun dropCloseHandler(handler: CloseHandler) {
        decide { closeHandlers?.remove(handler) }
    }

    override fun failure(waiter: Waiter): Throwable = closed(waiter.outcome as Closure)

    override fun label(): String = labelOf("Channel", channel.name)

    override fun toString(): String = channel.toString()

    /** Only when closed. */
    fun closedException(): ChannelClosedException = closed(end)

    private fun closed(closure: Closure) =
        ChannelClosedException("${label()} is ${if (isCancelled) "cancelled" else "closed"}", closure.cause)
}
