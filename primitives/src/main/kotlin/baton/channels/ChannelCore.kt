package baton.channels

import baton.waiting.FifoLine
import baton.waiting.PriorityLine
import baton.waiting.WaitCore
import baton.waiting.WaitLine
import baton.waiting.Waiter

/*
 * How it works
 *
 * Everything is guarded by the lock; an operation is a few dozen instructions under it.
 *
 *   held                 what the channel holds: what was sent, and before it what receivers gave back
 *   reserved             places that were given to somebody who will send, or give the place back, later
 *   receivers, senders   who waits. A sender in line brings its element with it, or asks for a PLACE
 *   closure, cancelled   the end: nobody sends any more; nobody receives any more
 *
 *   room = capacity + receivers − held − reserved
 *
 * (1) Whoever waits to receive finds nothing: receivers > 0 implies that held is empty.
 * (2) Senders wait only while room ≤ 0 (but for 5), and only if nothing is dropped. Every change that makes room ends
 *     in advance(), so no newcomer slips in before them.
 * (3) An element that is handed to a receiver has left the channel. If the receiver turns out to be gone it comes back,
 *     with the number it was handed out under: to whoever waits then, else before all that was not handed out. So the
 *     channel can hold more than its capacity.
 * (4) A sender that brings its element is served for good as soon as that is taken (isFinal): it returns normally even
 *     if it is cancelled before it runs. Whoever asks for a PLACE is a clause of a select, which may yet lose, or a
 *     reservation: it sends when it has come to run. Meanwhile the place, or the receiver that it was promised, is
 *     not given to others.
 * (5) A select that waits to send and to receive here is not promised to itself.
 * (6) Closed and drained is: closure is set, nothing is held and nothing reserved; or the channel was cancelled. Then
 *     nobody waits.
 * (7) A channel that drops has room for everybody: nobody waits to send, and reserved does not count as room taken.
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
    private val receivers = FifoLine()
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

    val hasEnded: Boolean get() = decide { isDrained }

    /** Invariant 6. */
    private val isDrained: Boolean get() = isCancelled || (closure != null && held.size == 0 && reserved == 0)

    /** Of a channel that was closed. */
    private val end: Closure get() = checkNotNull(closure)

    private val drops: Boolean get() = onFull != OnFull.SUSPEND

    private val room: Long
        get() = capacity.toLong() + receivers.size - held.size - if (drops) 0 else reserved

    // ---- to send

    /** Takes [element] if that needs no waiting. */
    fun offer(element: Any, level: Int): Outcome =
        decide {
            if (closure != null) Outcome.CLOSED else if (accept(element, level)) Outcome.DONE else Outcome.BUSY
        }

    private fun accept(element: Any, level: Int): Boolean {
        if (room > 0 && handOver(element, held.nextNumber())) return true
        // Looked at once more: those who were cancelled and still stood in line made no room.
        when {
            room > 0 -> held.add(element, level)
            onFull == OnFull.SUSPEND -> return false
            onFull == OnFull.DROP_LATEST || held.size == 0 -> drop(element)
            else -> {
                held.add(element, level)
                dropSurplus()
            }
        }
        return true
    }

    /** Takes [element], which cannot be refused any more. */
    private fun admit(element: Any, level: Int) {
        if (drops) accept(element, level) else put(element, level)
    }

    private fun put(element: Any, level: Int) {
        val number = held.nextNumber()
        if (!handOver(element, number)) held.add(element, level)
    }

    /** To the first receiver that is still there. */
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
        return receiver.tryGrant()
    }

    /** Reserves a place if that needs no waiting. */
    fun reserve(): Outcome =
        decide {
            when {
                closure != null -> Outcome.CLOSED
                !drops && room <= 0 -> Outcome.BUSY
                else -> Outcome.DONE.also { reserved++ }
            }
        }

    /** Sends what a place was reserved for. False when the channel was cancelled. */
    fun sendReserved(element: Any, level: Int): Boolean =
        decide {
            if (isCancelled) return@decide false
            reserved--
            admit(element, level)
            endIfDrained()
            true
        }

    /** Gives back a reserved place. */
    fun leavePlace() {
        decide { leavePlaceInside() }
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

    /** Who has been granted what it asks for: a place, or that its element be taken. */
    private fun serve(sender: Waiter) {
        val asked = sender.asked
        if (asked === PLACE) reserved++ else admit(asked, sender.weight)
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

    private fun isOnlyPromisedToItself(sender: Waiter) = sender.party?.let(::isOnlyPromisedTo) ?: false

    // ---- to receive

    /** Takes the next element, or says that there is none ([EMPTY]) or will be none any more ([CLOSED]). */
    fun poll(): Any = decide { takeInTurn() }

    /** As [poll], but puts an element that is null back to where it was; a sender may have been let in for it. */
    fun pollPresent(): Any = decide { takeInTurn().also { if (it === NULL) putBack(it, held.lastTaken) } }

    /** While others wait, though promised a PLACE, what a sender behind that has with it is not a newcomer's. */
    private fun takeInTurn(): Any = if (receivers.size > 0) EMPTY else take()

    /** As [poll], but past those who wait; [HeldElements.lastTaken] is the number of what was taken then. */
    private fun take(): Any {
        if (held.size > 0) {
            val element = held.takeFirst()
            advance()
            return element
        }
        if (isDrained) return CLOSED
        while (true) {
            val sender = senders.head()
            // To a clause or a reservation the element comes only when it has a receiver, so one must wait.
            if (sender == null || sender.tag === PLACE) return EMPTY
            senders.remove(sender)
            if (!sender.tryGrant()) continue
            senders.served(sender)
            wake(sender)
            held.takePast()
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

    override fun enqueue(waiter: Waiter, announced: Boolean): Int =
        decide { if (waiter.tag === RECEIVE) enqueueReceiver(waiter) else enqueueSender(waiter) }

    private fun enqueueReceiver(waiter: Waiter): Int {
        var element = take()
        if (receivers.size > 0 && element !== EMPTY && handOver(element, held.lastTaken)) element = EMPTY
        when {
            element === CLOSED -> waiter.tryFail(end)
            element !== EMPTY -> {
                val number = held.lastTaken
                if (!give(waiter, element, number)) putBack(element, number)
            }
            waiter.startWaiting() -> {
                receivers.add(waiter)
                advance()
                return Waiter.WAITING
            }
        }
        return waiter.currentState
    }

    private fun enqueueSender(waiter: Waiter): Int {
        when {
            closure != null -> waiter.tryFail(end)
            drops || (room > 0 && !isOnlyPromisedToItself(waiter)) -> if (waiter.tryGrant()) serve(waiter)
            waiter.startWaiting() -> {
                senders.add(waiter)
                return Waiter.WAITING
            }
        }
        return waiter.currentState
    }

    override fun unannounce(weight: Int) {}

    override fun withdraw(waiter: Waiter) {
        decide {
            if (waiter.linked) (if (waiter.tag === RECEIVE) receivers else senders).remove(waiter)
        }
    }

    override fun takeBack(waiter: Waiter) {
        when {
            waiter.tag === RECEIVE -> putBack(checkNotNull(waiter.reason), waiter.weight)
            waiter.tag === PLACE -> leavePlaceInside()
        }
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
        senders.forEach { sender ->
            senders.remove(sender)
            fail(sender)
        }
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
        receivers.forEach { receiver ->
            receivers.remove(receiver)
            fail(receiver)
        }
    }

    private fun fail(waiter: Waiter) {
        if (waiter.tryFail(end)) wake(waiter)
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

        val EMPTY = Any()
        val CLOSED = Any()

        private val NULL = Any()

        /** An element as the core knows it: elements may be null. */
        fun wrap(element: Any?): Any = element ?: NULL

        fun unwrap(element: Any?): Any? = if (element === NULL) null else element
    }
}
