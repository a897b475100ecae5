package baton.channels

import baton.waiting.ClauseWaiter
import baton.waiting.WaitQueue
import baton.waiting.Waiter

/*
 * How it works
 *
 * The operations of a channel: each is one or several steps under the lock, which ChannelState.kt has, with their
 * invariants. An operation that meets a clause of a select leaves the lock, asks that select, and begins its step again
 * after a refusal (8).
 */
internal class ChannelCore<E>(
    capacity: Int,
    order: ChannelOrder,
    onFull: OnFull,
    onDropped: ((E) -> Unit)?,
    private val describe: () -> String,
) : ChannelState<E>(capacity, order, onFull, onDropped) {
    val size: Int get() = decide { held.size }

    val waiting: Int get() = decide { receivers.size + senders.size }

    val isClosed: Boolean get() = closure != null

    // ---- to send

    /** Takes [element] if that needs no waiting. */
    fun offer(element: Any, level: Int): Outcome {
        var refuser: ClauseWaiter? = null
        while (true) {
            val step = decide { offerInside(element, level, refuser) }
            if (step is Outcome) return step
            refuser = step as ClauseWaiter
            if (refuser.accepts()) return Outcome.DONE
        }
    }

    private fun offerInside(element: Any, level: Int, refuser: ClauseWaiter?): Any {
        if (refuser != null) keep(refuser)
        return if (closure != null) Outcome.CLOSED else accept(element, level)
    }

    /** The [refuser] was asked and refused: the element is its sender's still. */
    private fun keep(refuser: ClauseWaiter) {
        refuser.reason = null
        handedOut--
        endIfDrained()
    }

    /** Reserves a place if that needs no waiting. */
    fun reserve(): Outcome =
        decide {
            when {
                closure != null -> Outcome.CLOSED
                drops -> Outcome.DONE
                room <= 0 -> Outcome.BUSY
                else -> Outcome.DONE.also { reserved++ }
            }
        }

    /** Sends what a place was reserved for. False when the channel was cancelled or, if it drops, closed. */
    fun sendReserved(element: Any, level: Int): Boolean {
        if (drops) return offer(element, level) == Outcome.DONE
        return decide {
            if (isCancelled) return@decide false
            reserved--
            admit(element, level)
            endIfDrained()
            true
        }
    }

    /** Sends the element of a sending clause that has won, unless a receiver has taken it. Throws if cancelled. */
    fun sendIfNotSent(winner: ClauseWaiter) {
        if (!winner.isSent && !sendReserved(winner.asked, winner.weight)) throw closedException()
    }

    /** Gives back a reserved place. */
    fun leavePlace() {
        if (!drops) decide { leavePlaceInside() }
    }

    // ---- to receive

    /** Takes the next element, or says that there is none ([EMPTY]) or will be none any more ([CLOSED]). */
    fun poll(): Any = decide { takeInTurn().also { endIfDrained() } }

    /** As [poll], but puts an element that is null back to where it was; a sender may have been let in for it. */
    fun pollPresent(): Any =
        decide {
            takeInTurn().also {
                if (it === NULL) putBack(it, held.lastTaken)
                endIfDrained()
            }
        }

    // ---- who waits

    override fun enqueue(waiter: Waiter): Int =
        when {
            waiter.tag === RECEIVE -> enqueueReceiver(waiter)
            waiter.tag === PLACE -> decide { enqueueForPlace(waiter) }
            waiter.tag === END -> decide { enqueueEndWatcher(waiter) }
            else -> enqueueSender(waiter)
        }

    private fun enqueueReceiver(waiter: Waiter): Int {
        while (true) {
            var number = 0
            val step = decide { receiveInside(waiter).also { number = held.lastTaken } }
            if (step !is ClauseWaiter) return waiter.currentStateOr(step)
            val isMine = step.accepts()
            if (isMine) decide { if (!give(waiter, step.asked, number)) putBack(step.asked, number) }
            elementArrived()
            if (isMine) return waiter.currentState
        }
    }

    /** The waiter's state or the sending clause that is to be asked. */
    private fun receiveInside(waiter: Waiter): Any {
        if (waiter.currentState != Waiter.PREPARING) return DECIDED
        var element = take(waiter.selectId)
        if (element is ClauseWaiter) return element
        if (element === CLOSED) {
            // The last element may have arrived without this lock: receivers may still stand here.
            endIfDrained()
            waiter.tryFail(end)
            return DECIDED
        }
        if (receivers.size > 0 && element !== EMPTY && handOver(element, held.lastTaken)) element = EMPTY
        when {
            element !== EMPTY -> {
                val number = held.lastTaken
                if (!give(waiter, element, number)) putBack(element, number)
                endIfDrained()
            }
            waiter.startWaiting() -> {
                receivers.add(waiter)
                advance()
                return WAITS
            }
        }
        return DECIDED
    }

    /** From WAITING on a canceller may resume it: its state must not be read again then, or both would. */
    private fun Waiter.currentStateOr(step: Any): Int =
        when {
            step === WAITS -> Waiter.WAITING
            step === SENT -> Waiter.GRANTED
            else -> currentState
        }

    private fun enqueueSender(waiter: Waiter): Int {
        var refuser: ClauseWaiter? = null
        while (true) {
            val step = decide { sendInside(waiter, refuser) }
            if (step !is ClauseWaiter) return waiter.currentStateOr(step)
            refuser = step
            if (step.accepts()) return sent(waiter)
        }
    }

    /** The waiter's state or the receiving clause that is to be asked. */
    private fun sendInside(waiter: Waiter, refuser: ClauseWaiter?): Any {
        if (refuser != null) keep(refuser)
        if (waiter.currentState != Waiter.PREPARING) return DECIDED
        if (closure != null) {
            waiter.tryFail(end)
            return DECIDED
        }
        val step = if (waiter is ClauseWaiter) enter(waiter) else accept(waiter.asked, waiter.weight)
        if (step is ClauseWaiter || step === DECIDED) return step
        if (step === Outcome.DONE) {
            sent(waiter)
            return SENT
        }
        if (!waiter.startWaiting()) return DECIDED
        senders.add(waiter)
        return WAITS
    }

    private fun hasRoomFor(sender: ClauseWaiter) = drops || (room > 0 && !isOnlyPromisedTo(sender.selectId))

    /** BUSY, the receiving clause that is to be asked, or DECIDED for a clause that has got a place (9). */
    private fun enter(sender: ClauseWaiter): Any {
        if (!hasRoomFor(sender)) return Outcome.BUSY
        val receiver = receivers.headBut(sender.selectId)
        if (receiver is ClauseWaiter) {
            meetReceiver(sender.asked, sender.selectId)?.let { return it }
            // Looked at once more: clauses that were cancelled and still stood in the queue made no room.
            if (!hasRoomFor(sender)) return Outcome.BUSY
        }
        if (sender.tryGrant() && !drops) reserved++
        return DECIDED
    }

    /** Its element was taken while it enqueued: invariant 4, whether it was cancelled meanwhile or not. */
    private fun sent(waiter: Waiter): Int {
        if (waiter is ClauseWaiter) waiter.isSent = true
        waiter.tryGrant()
        return Waiter.GRANTED
    }

    private fun enqueueForPlace(waiter: Waiter): Int {
        when {
            closure != null -> waiter.tryFail(end)
            drops || room > 0 -> if (waiter.tryGrant() && !drops) reserved++
            waiter.startWaiting() -> {
                senders.add(waiter)
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

    override fun withdraw(waiter: Waiter) {
        decide {
            if (waiter.linked) lineOf(waiter).remove(waiter)
        }
    }

    private fun lineOf(waiter: Waiter): WaitQueue =
        when {
            waiter.tag === RECEIVE -> receivers
            waiter.tag === END -> endWatchers
            else -> senders
        }

    override fun takeBack(waiter: Waiter) {
        when {
            waiter.tag === RECEIVE -> {
                if (waiter.isConfirming) handedOut--
                putBack(checkNotNull(waiter.reason), waiter.weight)
                endIfDrained()
            }
            waiter.tag === PLACE -> if (!drops) leavePlaceInside()
            waiter is ClauseWaiter && !waiter.isSent && !drops -> leavePlaceInside()
        }
    }

    override fun arrived(waiter: Waiter) {
        if (waiter.tag === RECEIVE) elementArrived()
    }

    override fun isFinal(waiter: Waiter): Boolean = waiter.tag !== RECEIVE && waiter.tag !== PLACE

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any? =
        if (waiter.tag === RECEIVE) unwrap(waiter.reason) else otherwise

    // ---- what is dropped

    // ---- size, end

    /** False when closed. */
    fun resize(newCapacity: Int): Boolean =
        decide {
            if (closure != null) return@decide false
            capacity = newCapacity
            advance()
            true
        }

    /** Nobody sends any more; what is inside can still be received. False when that was so before. */
    fun close(cause: Throwable?): Boolean =
        decide {
            if (closure != null) return@decide false
            closeInside(cause)
            endIfDrained()
            true
        }

    /** Nobody receives any more either. */
    fun cancel(cause: Throwable?) {
        decide {
            if (isCancelled) return@decide
            isCancelled = true
            if (closure == null) closeInside(cause)
            if (held.size > 0 && onDropped != null) wake(DropNotification(onDropped, null, held))
            held = ElementBuffer(order)
            failReceivers()
        }
    }

    override fun failure(waiter: Waiter): Throwable = closed(waiter.reason as Closure)

    /** Only when closed. */
    fun closedException(): ChannelClosedException = closed(end)

    private fun closed(closure: Closure) =
        ChannelClosedException("${describe()} is ${if (isCancelled) "cancelled" else "closed"}", closure.cause)

    private companion object {
        // What became of a waiter that enqueued: it waits; its element was taken; or its state says it.
        private val WAITS = Any()
        private val SENT = Any()
        private val DECIDED = Any()
    }
}
