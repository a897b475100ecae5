package baton.channels.core

import baton.channels.ChannelClosedException
import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.monitoring.Monitored
import baton.waiting.ClauseWaiter
import baton.waiting.Symbol
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.labelOf
import baton.waiting.threads.requireStack

/*
 * How it works
 *
 * The operations of a channel: each is one or several steps under the lock. The steps and their invariants are in
 * ChannelState.kt. An operation that meets a clause of a select releases the lock, asks that select, and repeats its
 * step after a refusal (8).
 */
internal class ChannelCore<E>(
    capacity: Int,
    order: ChannelOrder,
    onFull: OnFull,
    onDropped: ((E) -> Unit)?,
    private val channel: Monitored,
) : ChannelState<E>(capacity, order, onFull, onDropped) {
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

    /** The select of [refuser] was asked and refused: the element still belongs to its sender. */
    private fun takeBackOffer(refuser: ClauseWaiter) {
        refuser.clearReceived()
        handedOut--
        endIfDrained()
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

    // ---- called by waiters

    override fun enqueue(waiter: Waiter): Int =
        when {
            waiter.receives -> enqueueReceiver(waiter)
            waiter.reserves -> {
                noteWait(waiter)
                decide { enqueueForPlace(waiter) }
            }
            waiter.watchesEnd -> decide { enqueueEndWatcher(waiter) }
            else -> enqueueSender(waiter)
        }

    /** Senders and those that reserve: a waiting receiver does not lack anything that the channel has. */
    override val queuedWaiters: Int
        get() = senders.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        senders.forFirst(limit, visit)
    }

    override fun visitOthers(limit: Int, visit: (Waiter) -> Unit) {
        receivers.forFirst(limit, visit)
        endWatchers.forFirst(limit, visit)
    }

    private fun addSender(waiter: Waiter) {
        senders.add(waiter)
        countPeak(senders.size)
    }

    private fun enqueueReceiver(waiter: Waiter): Int {
        while (true) {
            var number = 0
            val step = decide { receiveUnderLock(waiter).also { number = buffer.lastTaken } }
            if (step !is ClauseWaiter) return waiter.currentStateOr(step)
            val isMine = step.accepts()
            if (isMine) decide { if (!grantElement(waiter, step.asked, number)) returnElement(step.asked, number) }
            elementArrived()
            if (isMine) return waiter.currentState
        }
    }

    /** WAITS, DECIDED, or the sending clause whose select must be asked. */
    private fun receiveUnderLock(waiter: Waiter): Any {
        if (waiter.currentState != Waiter.PREPARING) return DECIDED
        var element = takeElement(waiter.selectId)
        if (element is ClauseWaiter) return element
        if (element === CLOSED) {
            // The last element may have arrived without this lock: receivers may still be queued.
            endIfDrained()
            waiter.tryFail(end)
            return DECIDED
        }
        if (receivers.size > 0 && element !== EMPTY && handOver(element, buffer.lastTaken)) element = EMPTY
        when {
            element !== EMPTY -> {
                val number = buffer.lastTaken
                if (!grantElement(waiter, element, number)) returnElement(element, number)
                endIfDrained()
            }
            waiter.startWaiting() -> {
                receivers.add(waiter)
                admitSenders()
                return WAITS
            }
        }
        return DECIDED
    }

    /** From WAITING on a canceller may resume it: its state must not be read again, or both threads would resume it. */
    private fun Waiter.currentStateOr(step: Any): Int =
        when {
            step === WAITS -> Waiter.WAITING
            step === SENT -> Waiter.GRANTED
            else -> currentState
        }

    private fun enqueueSender(waiter: Waiter): Int {
        noteWait(waiter)
        var refuser: ClauseWaiter? = null
        while (true) {
            val step = decide { sendUnderLock(waiter, refuser) }
            if (step !is ClauseWaiter) return waiter.currentStateOr(step)
            refuser = step
            if (step.accepts()) return sent(waiter)
        }
    }

    /** WAITS, SENT, DECIDED, or the receiving clause whose select must be asked. */
    private fun sendUnderLock(waiter: Waiter, refuser: ClauseWaiter?): Any {
        if (refuser != null) takeBackOffer(refuser)
        if (waiter.currentState != Waiter.PREPARING) return DECIDED
        if (closure != null) {
            waiter.tryFail(end)
            return DECIDED
        }
        val step = if (waiter is ClauseWaiter) enterSendClause(waiter) else offerUnderLock(waiter.asked, waiter.level)
        if (step is ClauseWaiter || step === DECIDED) return step
        if (step === Outcome.DONE) {
            sent(waiter)
            return SENT
        }
        if (!waiter.startWaiting()) return DECIDED
        addSender(waiter)
        return WAITS
    }

    private fun hasRoomFor(sender: ClauseWaiter) = dropsOnFull || (room > 0 && !isOnlyPromisedTo(sender.selectId))

    /** BUSY, the receiving clause whose select must be asked, or DECIDED for a clause that was granted a place (9). */
    private fun enterSendClause(sender: ClauseWaiter): Any {
        if (!hasRoomFor(sender)) return Outcome.BUSY
        val receiver = receivers.headBut(sender.selectId)
        if (receiver is ClauseWaiter) {
            meetReceiver(sender.asked, sender.selectId)?.let {
                return it
            }
        }
        if (sender.tryGrant() && !dropsOnFull) reserved++
        return DECIDED
    }

    /** Grants a sender whose element was taken while it enqueued, cancelled or not (invariant 4). */
    private fun sent(waiter: Waiter): Int {
        if (waiter is ClauseWaiter) waiter.isSent = true
        waiter.tryGrant()
        return Waiter.GRANTED
    }

    private fun enqueueForPlace(waiter: Waiter): Int {
        when {
            closure != null -> waiter.tryFail(end)
            dropsOnFull || room > 0 -> if (waiter.tryGrant() && !dropsOnFull) reserved++
            waiter.startWaiting() -> {
                addSender(waiter)
                return Waiter.WAITING
            }
        }
        return waiter.currentState
    }

    private fun enqueueEndWatcher(waiter: Waiter): Int {
        when {
            isDrained -> waiter.tryFail(end)
            waiter.startWaiting() -> {
                endWatchers.add(waiter)
                return Waiter.WAITING
            }
        }
        return waiter.currentState
    }

    override fun isQueued(waiter: Waiter): Boolean =
        receivers.contains(waiter) || senders.contains(waiter) || endWatchers.contains(waiter)

    override fun removeWithdrawn(waiter: Waiter) {
        queueOf(waiter).remove(waiter)
    }

    private fun queueOf(waiter: Waiter): WaitQueue =
        when {
            waiter.receives -> receivers
            waiter.watchesEnd -> endWatchers
            else -> senders
        }

    override fun takeBack(waiter: Waiter) {
        when {
            waiter.receives -> {
                if (waiter.isConfirming) handedOut--
                returnElement(waiter.received, waiter.elementNumber)
                endIfDrained()
            }
            waiter.reserves -> if (!dropsOnFull) returnPlaceUnderLock()
            waiter is ClauseWaiter && !waiter.isSent && !dropsOnFull -> returnPlaceUnderLock()
        }
    }

    override fun arrived(waiter: Waiter) {
        if (waiter.receives) elementArrived()
    }

    override fun isFinal(waiter: Waiter): Boolean = !waiter.receives && !waiter.reserves

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any? =
        if (waiter.receives) unwrap(waiter.received) else otherwise

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

    override fun verbOf(waiter: Waiter): String =
        when {
            waiter.receives -> "receive"
            waiter.reserves -> "reserve"
            waiter.watchesEnd -> "wait for the end"
            else -> "send"
        }

    /** Only when closed. */
    fun closedException(): ChannelClosedException = closed(end)

    private fun closed(closure: Closure) =
        ChannelClosedException("${label()} is ${if (isCancelled) "cancelled" else "closed"}", closure.cause)

    private companion object {
        // The outcome of an enqueue: the waiter waits; its element was taken; its state holds the outcome.
        private val WAITS = Symbol("WAITS")
        private val SENT = Symbol("SENT")
        private val DECIDED = Symbol("DECIDED")
    }
}
