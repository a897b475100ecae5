package baton.channels

import baton.waiting.ClauseWaiter
import baton.waiting.FifoWaitQueue
import baton.waiting.PriorityWaitQueue
import baton.waiting.WaitCore
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

/*
 * What a channel holds, who waits at it, and the steps that its operations (see ChannelCore.kt) are made of.
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
 * (9) A clause that sends to a channel with room, or to a receiver that is no clause, gets a place and sends when its
 *     select runs; a select that is cancelled before that sends nothing. So a receiver that is no clause does not ask a
 *     sending clause: it waits, and that makes room.
 *
 * Sources: deciding under a lock and waking after it is that of tokio's channels; that a receiver which does not come
 * gives back what it had got is the answer to kotlinx.coroutines #4337.
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

    protected var held = ElementBuffer(order)
    protected var reserved = 0
    protected var handedOut = 0L

    @Volatile
    private var arrivals = 0L
    protected val receivers = FifoWaitQueue()
    protected val endWatchers = FifoWaitQueue()
    protected val senders: WaitQueue = if (order == ChannelOrder.PRIORITY) PriorityWaitQueue {
        it.weight
    } else FifoWaitQueue()

    @Volatile
    protected var closure: Closure? = null

    @Volatile
    var isCancelled: Boolean = false
        protected set

    protected class Closure(val cause: Throwable?)

    /** Invariant 6. */
    protected val isDrained: Boolean
        get() = isCancelled || (closure != null && held.size == 0 && reserved == 0 && handedOut == arrivals)

    /** Of a channel that was closed. */
    protected val end: Closure get() = checkNotNull(closure)

    protected val drops: Boolean get() = onFull != OnFull.SUSPEND

    protected val room: Long
        get() = capacity.toLong() + receivers.size - held.size - reserved

    /** DONE, BUSY, or the receiving clause that is to be asked. */
    protected fun accept(element: Any, level: Int): Any {
        if (room > 0) {
            val met = meetReceiver(element, selectId = null)
            if (met != null) return met
        }
        // Looked at once more: receivers that were cancelled and still stood in the queue made no room.
        when {
            room > 0 -> held.add(element, level)
            onFull == OnFull.SUSPEND -> return Outcome.BUSY
            onFull == OnFull.DROP_LATEST || held.size == 0 -> drop(element)
            else -> {
                held.add(element, level)
                dropSurplus()
            }
        }
        return Outcome.DONE
    }

    /**
     * DONE, the receiving clause that is to be asked, or null if there is no receiver. A sender that is a clause of [selectId]
     * passes over that.
     */
    protected fun meetReceiver(element: Any, selectId: Any?): Any? {
        while (true) {
            val receiver = (if (selectId == null) receivers.head() else receivers.headBut(selectId)) ?: return null
            receivers.remove(receiver)
            if (receiver is ClauseWaiter) receiver.isOffered = receiver.canBeAsked
            if (!give(receiver, element, held.nextNumber())) continue
            if (receiver is ClauseWaiter && receiver.isOffered) return receiver
            wake(receiver)
            return Outcome.DONE
        }
    }

    /** Takes [element], which cannot be refused any more. */
    protected fun admit(element: Any, level: Int) {
        if (!handOver(element, held.nextNumber())) held.add(element, level)
    }

    /** To the first receiver that is still there. A clause that refuses gives it back. */
    protected fun handOver(element: Any, number: Int): Boolean {
        while (true) {
            val receiver = receivers.head() ?: return false
            receivers.remove(receiver)
            if (give(receiver, element, number)) {
                wake(receiver)
                return true
            }
        }
    }

    protected fun give(receiver: Waiter, element: Any, number: Int): Boolean {
        receiver.reason = element
        receiver.weight = number
        if (!receiver.tryGrant()) return false
        if (receiver.isConfirming) handedOut++
        return true
    }

    protected fun leavePlaceInside() {
        reserved--
        advance()
        endIfDrained()
    }

    /** Invariant 2. */
    protected fun advance() {
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
    protected fun serve(sender: Waiter) {
        val asked = sender.asked
        if (asked === PLACE || sender is ClauseWaiter) reserved++ else admit(asked, sender.weight)
    }

    /** No waiter of a channel is without a tag. */
    protected val Waiter.asked: Any get() = checkNotNull(tag)

    /** Invariant 5: it does not bar those behind it, either. */
    protected fun nextSender(): Waiter? {
        val head = senders.head() ?: return null
        val selectId = head.selectId
        return if (selectId != null && isOnlyPromisedTo(selectId)) senders.headBut(selectId) else head
    }

    /** Whether there is room only for what this select would receive itself. */
    protected fun isOnlyPromisedTo(selectId: Any): Boolean =
        receivers.size > 0 && room <= receivers.size && receivers.headBut(selectId) == null

    /** While others wait, though promised a PLACE, what a sender behind that has with it is not a newcomer's. */
    protected fun takeInTurn(): Any = if (receivers.size > 0) EMPTY else take(selectId = null)

    /**
     * As [poll], but past those who wait; [ElementBuffer.lastTaken] is the number of what was taken then. A receiver that
     * is a clause of [selectId] passes over that, and may be answered the sending clause that is to be asked;
     * [elementArrived] is to follow.
     */
    protected fun take(selectId: Any?): Any {
        if (held.size > 0) {
            val element = held.takeFirst()
            advance()
            return element
        }
        if (isDrained) return CLOSED
        while (true) {
            val sender = (if (selectId == null) senders.head() else senders.headBut(selectId)) ?: return EMPTY
            // To a reservation or a clause the element comes only when it has a receiver, so one must wait.
            if (sender.tag === PLACE) return EMPTY
            if (sender is ClauseWaiter && (selectId == null || !sender.canBeAsked)) return EMPTY
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
    protected fun putBack(element: Any, number: Int) {
        if (isCancelled) return drop(element)
        if (handOver(element, number)) return
        held.putBack(element, number)
        if (onFull == OnFull.DROP_OLDEST) dropSurplus()
    }

    /** An element that was handed out does not come back any more. */
    protected fun elementArrived() {
        ARRIVALS.getAndAdd(this, 1L)
        // Either this thread sees the closure, or the thread that closes sees the arrival.
        if (closure != null) decide { endIfDrained() }
    }

    protected fun drop(element: Any) {
        if (onDropped != null) wake(DropNotification(onDropped, element, null))
    }

    protected fun dropSurplus() {
        while (room < 0 && held.size > 0) drop(held.removeOldest())
    }

    protected fun closeInside(cause: Throwable?) {
        closure = Closure(cause)
        failAll(senders)
    }

    protected fun endIfDrained() {
        if (isDrained) failReceivers()
    }

    protected fun failReceivers() {
        failAll(receivers)
        failAll(endWatchers)
    }

    protected fun failAll(line: WaitQueue) {
        line.forEach { waiter ->
            line.remove(waiter)
            if (waiter.tryFail(end)) wake(waiter)
        }
    }

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

        val NULL = Any()

        private val ARRIVALS: VarHandle =
            MethodHandles.lookup().findVarHandle(ChannelCore::class.java, "arrivals", Long::class.javaPrimitiveType)

        /** An element as the core knows it: elements may be null. */
        fun wrap(element: Any?): Any = element ?: NULL

        fun unwrap(element: Any?): Any? = if (element === NULL) null else element
    }
}
