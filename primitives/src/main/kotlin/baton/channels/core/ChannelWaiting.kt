package baton.channels.core

import baton.channels.ChannelOrder
import baton.channels.OnFull
import baton.waiting.ClauseWaiter
import baton.waiting.Symbol
import baton.waiting.WaitQueue
import baton.waiting.Waiter

/** The operations of a channel that waiters call. See ChannelState.kt for the invariants, and ChannelCore.kt. */
internal abstract class ChannelWaiting<E>(
    capacity: Int,
    order: ChannelOrder,
    onFull: OnFull,
    onDropped: ((E) -> Unit)?,
) : ChannelState<E>(capacity, order, onFull, onDropped) {
    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return when {
            waiter.receives -> enqueueReceiver(waiter)
            waiter.reserves -> decide { enqueueForPlace(waiter) }
            waiter.watchesEnd -> decide { enqueueEndWatcher(waiter) }
            else -> enqueueSender(waiter)
        }
    }

    /** Senders and those that reserve: a waiting receiver does not lack anything that the channel has. */
    override val queuedWaiters: Int
        get() = senders.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        senders.forFirst(limit, visit)
    }

    override val queuedOthers: Int
        get() = receivers.size + endWatchers.size

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

    /** The select of [refuser] was asked and refused: the element still belongs to its sender. */
    protected fun takeBackOffer(refuser: ClauseWaiter) {
        refuser.clearReceived()
        handedOut--
        endIfDrained()
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

    override fun verbOf(waiter: Waiter): String =
        when {
            waiter.receives -> "receive"
            waiter.reserves -> "reserve"
            waiter.watchesEnd -> "wait for the end"
            else -> "send"
        }

    private companion object {
        // The outcome of an enqueue: the waiter waits; its element was taken; its state holds the outcome.
        private val WAITS = Symbol("WAITS")
        private val SENT = Symbol("SENT")
        private val DECIDED = Symbol("DECIDED")
    }
}
