package baton.channels

import baton.waiting.ClauseWaiter
import baton.waiting.FifoLine
import baton.waiting.PriorityLine
import baton.waiting.WaitCore
import baton.waiting.WaitLine
import baton.waiting.Waiter
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

/*
 * How it works
 *
 * Everything but `arrivals` is guarded by the lock; an operation is a few dozen instructions under it.
 *
 *   held                 what the channel holds: what was sent, and before it what receivers gave back
 *   reserved             places that were given to a sender that sends, or gives the place back, later
 *   handedOut, arrivals  how many elements went to receivers that may still give them back; how many of them arrived
 *   receivers, senders   the queues of waiters. A queued sender brings its element with it, or asks for a PLACE
 *   endWatchers          waiters for the channel to be closed and drained, which are granted nothing
 *   closure, cancelled   the end: no sends any more; no receives any more
 *
 *   room = capacity + receivers − held − reserved
 *
 * (1) A receiver waits only while there is nothing to receive: receivers > 0 implies that held is empty.
 * (2) Senders wait only while room ≤ 0 (but for 5), and only if nothing is dropped. Every change that makes room ends
 *     in advance(), so no newcomer slips in before them.
 * (3) An element that is handed to a receiver has left the channel. If the receiver cannot take it, it comes back,
 *     with the number it was handed out under: to the receiver at the head of the queue, else before all that was not
 *     handed out. So the channel can hold more than its capacity.
 * (4) A sender that brings its element is served for good as soon as that is taken (isFinal): it returns normally even
 *     if it is cancelled before it runs. A reservation, and a clause of a select for which room has come, gets a place
 *     and sends when it runs. Meanwhile the place is not given to others.
 * (5) A select that waits to send and to receive here does not meet itself.
 * (6) Closed and drained is: closure is set, and nothing is held, reserved, or handed out and not arrived; or the
 *     channel was cancelled. Then no receiver and no end watcher waits.
 * (7) A channel that drops has room for every element: no sender waits, and reserved stays 0.
 * (8) A sender that meets a receiving clause of a select asks that select before its own operation ends, and so does a
 *     receiving clause that meets a sending one (ClauseWaiter, 1). The clause leaves the queue first; the lock is free
 *     while its select answers. After a refusal the operation begins again. So of two selects that cross, one sends and
 *     the other receives. Only an element that has no sender to wait for the answer (one given back, or sent to a place)
 *     is handed over as to any receiver, and comes back by (3).
 * (9) A receiver that is no clause does not ask a sending clause: it waits, and that makes room. The clause gets a place
 *     and sends when its select runs; a select that is cancelled before that sends nothing.
 *
 * Sources: deciding under a lock and waking after it is that of tokio's channels; that a receiver which does not come
 * gives back what it had got is the answer to kotlinx.coroutines #4337.
 */
internal class ChannelCore<E>(
    capacity: Int,
    private val order: ChannelOrder,
    private val onFull: OnFull,
    private val onDropped: ((E) -> Unit)?,
    private val describe: () -> String,
) : WaitCore() {
    @Volatile
    var capacity: Int = capacity
        private set

    private var held = HeldElements(order)
    private var reserved = 0
    private var handedOut = 0L

    @Volatile
    private var arrivals = 0L
    private val receivers = FifoLine()
    private val endWatchers = FifoLine()
    private val senders: WaitLine = if (order == ChannelOrder.PRIORITY) PriorityLine { it.weight } else FifoLine()

    @Volatile
    private var closure: Closure? = null

    @Volatile
    var isCancelled: Boolean = false
        private set

    private class Closure(val cause: Throwable?)

    val size: Int get() = decide { held.size }

    val waiting: Int get() = decide { receivers.size + senders.size }

    val isClosed: Boolean get() = closure != null

    /** Invariant 6. */
    private val isDrained: Boolean
        get() = isCancelled || (closure != null && held.size == 0 && reserved == 0 && handedOut == arrivals)

    /** Of a channel that was closed. */
    private val end: Closure get() = checkNotNull(closure)

    private val drops: Boolean get() = onFull != OnFull.SUSPEND

    private val room: Long
        get() = capacity.toLong() + receivers.size - held.size - reserved

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
        return if (closure != null) Outcome.CLOSED else accept(element, level, party = null)
    }

    /** The [refuser] was asked and refused: the element is its sender's still. */
    private fun keep(refuser: ClauseWaiter) {
        refuser.reason = null
        handedOut--
        endIfDrained()
    }

    /** DONE, BUSY, or the receiving clause that is to be asked. A sender that is a clause of [party] passes over that. */
    private fun accept(element: Any, level: Int, party: Any?): Any {
        if (room > 0) {
            val met = meetReceiver(element, party)
            if (met != null) return met
        }
        // Looked at once more: receivers that were cancelled and still stood in the queue made no room.
        when {
            room > receiversOf(party) -> held.add(element, level)
            onFull == OnFull.SUSPEND -> return Outcome.BUSY
            onFull == OnFull.DROP_LATEST || held.size == 0 -> drop(element)
            else -> {
                held.add(element, level)
                dropSurplus()
            }
        }
        return Outcome.DONE
    }

    /** DONE, the receiving clause that is to be asked, or null if there is no receiver. */
    private fun meetReceiver(element: Any, party: Any?): Any? {
        while (true) {
            val receiver = (if (party == null) receivers.head() else receivers.headBut(party)) ?: return null
            receivers.remove(receiver)
            if (receiver is ClauseWaiter) receiver.isOffered = true
            if (!give(receiver, element, held.nextNumber())) continue
            if (receiver is ClauseWaiter) return receiver
            wake(receiver)
            return Outcome.DONE
        }
    }

    /** Takes [element], which cannot be refused any more. */
    private fun admit(element: Any, level: Int) {
        if (!handOver(element, held.nextNumber())) held.add(element, level)
    }

    /** To the first receiver that is still there. A clause that refuses gives it back. */
    private fun handOver(element: Any, number: Int): Boolean {
        while (true) {
            val receiver = receivers.head() ?: return false
            receivers.remove(receiver)
            if (give(receiver, element, number)) {
                wake(receiver)
                return true
            }
        }
    }

    private fun give(receiver: Waiter, element: Any, number: Int): Boolean {
        receiver.reason = element
        receiver.weight = number
        if (!receiver.tryGrant()) return false
        if (receiver.isConfirming) handedOut++
        return true
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

    private fun leavePlaceInside() {
        reserved--
        advance()
        endIfDrained()
    }

    /** Invariant 2. */
    private fun advance() {
        while (room > 0) {
            val sender = nextSender() ?: return
            senders.remove(sender)
            if (!sender.tryGrant()) continue
            senders.served(sender)
            serve(sender)
            wake(sender)
        }
    }

    /** Room has come for what a sender asks for: a place, or that its element be taken. */
    private fun serve(sender: Waiter) {
        val asked = sender.asked
        if (asked === PLACE || sender is ClauseWaiter) reserved++ else admit(asked, sender.weight)
    }

    /** No waiter of a channel is without a tag. */
    private val Waiter.asked: Any get() = checkNotNull(tag)

    /** Invariant 5: it does not bar those behind it, either. */
    private fun nextSender(): Waiter? {
        val head = senders.head() ?: return null
        val party = head.party
        return if (party != null && isOnlyPromisedTo(party)) senders.headBut(party) else head
    }

    /** Whether there is room only for what this select would receive itself. */
    private fun isOnlyPromisedTo(party: Any): Boolean =
        receivers.size > 0 && room <= receivers.size && receivers.headBut(party) == null

    /** How many receivers are not for a sender that is a clause of [party]: its own, when there are no others. */
    private fun receiversOf(party: Any?): Int = if (party == null) 0 else receivers.size

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

    /** While others wait, though promised a PLACE, what a sender behind that has with it is not a newcomer's. */
    private fun takeInTurn(): Any = if (receivers.size > 0) EMPTY else take(party = null)

    /**
     * As [poll], but past those who wait; [HeldElements.lastTaken] is the number of what was taken then. A receiver that
     * is a clause of [party] passes over that, and may be answered the sending clause that is to be asked;
     * [elementArrived] is to follow.
     */
    private fun take(party: Any?): Any {
        if (held.size > 0) {
            val element = held.takeFirst()
            advance()
            return element
        }
        if (isDrained) return CLOSED
        while (true) {
            val sender = (if (party == null) senders.head() else senders.headBut(party)) ?: return EMPTY
            // To a reservation or a clause the element comes only when it has a receiver, so one must wait.
            if (sender.tag === PLACE || (sender is ClauseWaiter && party == null)) return EMPTY
            senders.remove(sender)
            if (sender is ClauseWaiter) {
                sender.isOffered = true
                sender.isSent = true
            }
            if (!sender.tryGrant()) continue
            senders.served(sender)
            held.takePast()
            if (sender is ClauseWaiter) {
                handedOut++
                return sender
            }
            wake(sender)
            return sender.asked
        }
    }

    /** Invariant 3. */
    private fun putBack(element: Any, number: Int) {
        if (isCancelled) return drop(element)
        if (handOver(element, number)) return
        held.putBack(element, number)
        if (onFull == OnFull.DROP_OLDEST) dropSurplus()
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
        var element = take(waiter.party)
        if (element is ClauseWaiter) return element
        if (receivers.size > 0 && element !== EMPTY && handOver(element, held.lastTaken)) element = EMPTY
        when {
            element === CLOSED -> waiter.tryFail(end)
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
        val step = accept(waiter.asked, waiter.weight, waiter.party)
        if (step is ClauseWaiter) return step
        if (step === Outcome.DONE) {
            sent(waiter)
            return SENT
        }
        if (!waiter.startWaiting()) return DECIDED
        senders.add(waiter)
        return WAITS
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

    private fun lineOf(waiter: Waiter): WaitLine =
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
            waiter is ClauseWaiter && !waiter.isSent -> leavePlaceInside()
        }
    }

    override fun arrived(waiter: Waiter) {
        if (waiter.tag === RECEIVE) elementArrived()
    }

    /** An element that was handed out does not come back any more. */
    private fun elementArrived() {
        ARRIVALS.getAndAdd(this, 1L)
        // Either this thread sees the closure, or the thread that closes sees the arrival.
        if (closure != null) decide { endIfDrained() }
    }

    override fun isFinal(waiter: Waiter): Boolean = waiter.tag !== RECEIVE && waiter.tag !== PLACE

    override fun grantOf(waiter: Waiter, otherwise: Any?): Any? =
        if (waiter.tag === RECEIVE) unwrap(waiter.reason) else otherwise

    // ---- what is dropped

    private fun drop(element: Any) {
        if (onDropped != null) wake(Dropped(this, onDropped, element, null))
    }

    private fun dropSurplus() {
        while (room < 0 && held.size > 0) drop(held.removeOldest())
    }

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

    private fun closeInside(cause: Throwable?) {
        closure = Closure(cause)
        failAll(senders)
    }

    /** Nobody receives any more either. */
    fun cancel(cause: Throwable?) {
        decide {
            if (isCancelled) return@decide
            isCancelled = true
            if (closure == null) closeInside(cause)
            if (held.size > 0 && onDropped != null) wake(Dropped(this, onDropped, null, held))
            held = HeldElements(order)
            failReceivers()
        }
    }

    private fun endIfDrained() {
        if (isDrained) failReceivers()
    }

    private fun failReceivers() {
        failAll(receivers)
        failAll(endWatchers)
    }

    private fun failAll(line: WaitLine) {
        line.forEach { waiter ->
            line.remove(waiter)
            if (waiter.tryFail(end)) wake(waiter)
        }
    }

    override fun failure(waiter: Waiter): Throwable = closed(waiter.reason as Closure)

    /** Only when closed. */
    fun closedException(): ClosedChannelException = closed(end)

    private fun closed(closure: Closure) =
        ClosedChannelException("${describe()} is ${if (isCancelled) "cancelled" else "closed"}", closure.cause)

    internal enum class Outcome { DONE, BUSY, CLOSED }

    internal companion object {
        /** The tag of a waiter that wants to receive; its weight becomes the number of its element. */
        val RECEIVE = Any()

        /** The tag of a waiter that wants to send later; another tag is an element. The weight is the level. */
        val PLACE = Any()

        /** The tag of a waiter that is never granted anything, and failed when the channel is closed and drained. */
        val END = Any()

        val EMPTY = Any()
        val CLOSED = Any()

        private val NULL = Any()

        // What became of a waiter that enqueued: it waits; its element was taken; or its state says it.
        private val WAITS = Any()
        private val SENT = Any()
        private val DECIDED = Any()

        private val ARRIVALS: VarHandle =
            MethodHandles.lookup().findVarHandle(ChannelCore::class.java, "arrivals", Long::class.javaPrimitiveType)

        /** An element as the core knows it: elements may be null. */
        fun wrap(element: Any?): Any = element ?: NULL

        fun unwrap(element: Any?): Any? = if (element === NULL) null else element
    }
}
