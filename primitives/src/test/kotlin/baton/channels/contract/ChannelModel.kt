package baton.channels.contract

import baton.Priority
import baton.channels.Channel
import baton.channels.ChannelOrder
import baton.channels.OnFull

/**
 * Sequential model of a [Channel], as plain as possible: lists, one thread, and no hurry.
 *
 * The test identifies a waiting caller by a number of its choice. Operations return the results of the real ones. If an
 * operation also completes waiters, they [resume] when the test says so.
 *
 * @property elementsReturn whether a receiver that is cancelled before it resumes gives its element back.
 */
internal class ChannelModel(
    private var capacity: Int,
    private val order: ChannelOrder,
    private val onFull: OnFull,
    private val elementsReturn: Boolean,
) {
    private class Element(val value: Int, val level: Priority)

    /** An element that was handed out, as the [number]th. */
    private class Received(val number: Int, val value: Int)

    /** A caller that waits to receive; or to send [element]; or, if that is null, for a place. */
    private class Waiting(val id: Int, val level: Priority, val element: Element?)

    /** The levels of a queue, and how often each was passed over. */
    private inner class Turns {
        private val passes = IntArray(Priority.entries.size)

        fun next(levels: Set<Priority>): Priority? {
            if (order == ChannelOrder.FIFO) return null
            fun left(level: Priority) = bypass(level) - passes[level.ordinal]
            val isTight = (0..3).any { places -> levels.count { left(it) <= places } > places }
            return if (isTight) levels.sorted().minBy(::left) else levels.minOrNull()
        }

        fun served(level: Priority, left: Set<Priority>) {
            for (other in Priority.entries) {
                if (other == level || other !in left) forget(other) else passes[other.ordinal]++
            }
        }

        fun forget(level: Priority) {
            passes[level.ordinal] = 0
        }

        private fun bypass(level: Priority) = listOf(Int.MAX_VALUE, 64, 128, 256, 512)[level.ordinal]
    }

    private val inside = mutableListOf<Element>()
    private val insideTurns = Turns()
    private val returned = mutableListOf<Received>()
    private val receivers = mutableListOf<Int>()
    private val senders = mutableListOf<Waiting>()
    private val senderTurns = Turns()

    var reserved = 0
        private set

    private var handedOut = 0

    var isClosed = false
        private set

    var isCancelled = false
        private set

    val size
        get() = inside.size + returned.size

    val waiting
        get() = receivers.size + senders.size

    /** For a newcomer that does not wait, if there is no receiver. */
    val remainingCapacity
        get() = (room - receivers.size).coerceAtLeast(0).toInt()

    val isClosedForReceive
        get() = isDrained

    /** How many elements the callers of [receiveUpTo] that wait want. */
    private val limits = HashMap<Int, Int>()

    val nextReceiver
        get() = receivers.firstOrNull()

    /** Whether a sender's element can be received only when the sender has resumed, if that is a select. */
    val isAnElementWithASender
        get() = size == 0 && senders.isNotEmpty()

    /** The waiters that were completed and have not resumed, and their results: SENT, PLACE, CLOSED, or an element. */
    private val completed = LinkedHashMap<Int, Any>()

    val dropped = mutableListOf<Int>()

    private val drops
        get() = onFull != OnFull.SUSPEND

    private val room
        get() = capacity.toLong() + receivers.size - size - reserved

    /** A receiver on whose way an element is may still give it back. */
    private val isOnTheWay
        get() = elementsReturn && completed.values.any { it is Received }

    private val isDrained
        get() = isCancelled || (isClosed && size == 0 && reserved == 0 && !isOnTheWay)

    /** SENT, BUSY or CLOSED. */
    fun trySend(value: Int, level: Priority): Any {
        if (isClosed) return CLOSED
        val element = Element(value, level)
        when {
            room > 0 -> put(element)
            !drops -> return BUSY
            onFull == OnFull.DROP_LATEST || size == 0 -> dropped += value
            else -> {
                inside += element
                dropSurplus()
            }
        }
        return SENT
    }

    fun send(id: Int, value: Int, level: Priority): Any {
        val answer = trySend(value, level)
        if (answer == BUSY) senders += Waiting(id, level, Element(value, level))
        return answer
    }

    fun reserve(id: Int, level: Priority): Any {
        if (isClosed) return CLOSED
        if (drops) return PLACE
        if (room > 0) {
            reserved++
            return PLACE
        }
        senders += Waiting(id, level, null)
        return BUSY
    }

    fun usePlace(value: Int, level: Priority): Boolean {
        if (drops) return trySend(value, level) == SENT
        if (isCancelled) return false
        reserved--
        put(Element(value, level))
        endIfDrained()
        return true
    }

    fun leavePlace() {
        if (isCancelled || drops) return
        reserved--
        advance()
        endIfDrained()
    }

    /** Returns the element, BUSY or CLOSED. Waiting receivers come before a newcomer. */
    fun tryReceive(): Any = valueOf(if (receivers.isEmpty()) take() else BUSY)

    private fun valueOf(answer: Any) = if (answer is Received) answer.value else answer

    private fun take(): Any {
        if (size > 0) return removeFirst().also { advance() }
        if (isDrained) return CLOSED
        val sender = head()?.takeIf { it.element != null } ?: return BUSY
        admit(sender)
        return Received(handedOut++, sender.element!!.value)
    }

    fun receive(id: Int): Any {
        val answer = take()
        if (answer != BUSY && receivers.isEmpty()) return valueOf(answer)
        if (answer is Received) completed[receivers.removeFirst()] = answer
        receivers += id
        advance()
        return BUSY
    }

    /** As [receive], but an element comes in a list, with those that are there when the caller resumes. */
    fun receiveUpTo(id: Int, limit: Int): Any {
        val first = if (receivers.isEmpty()) take() else BUSY
        if (first != BUSY) return if (first is Received) withMore(first, limit) else first
        limits[id] = limit
        return receive(id)
    }

    private fun withMore(first: Received, limit: Int): List<Int> {
        val elements = mutableListOf(first.value)
        while (elements.size < limit && receivers.isEmpty()) elements += (take() as? Received ?: break).value
        return elements
    }

    /** Cancelled or timed out. Returns whether it waited until then. */
    fun withdraw(id: Int): Boolean {
        if (receivers.remove(id)) return true
        val sender = senders.find { it.id == id } ?: return false
        senders -= sender
        if (senders.none { it.level == sender.level }) senderTurns.forget(sender.level)
        return true
    }

    /** The completed waiter that resumes first, if there is one. */
    val nextToResume
        get() = completed.keys.firstOrNull()

    fun isCompleted(id: Int) = id in completed

    /** A completed waiter resumes; returns its result. If it was cancelled, it gives back what it got. */
    fun resume(id: Int, isCancelled: Boolean): Any {
        val answer = completed.remove(id)!!
        val limit = limits.remove(id)
        var result = valueOf(answer)
        if (isCancelled && answer == PLACE) {
            leavePlace()
            result = CANCELLED
        } else if (isCancelled && answer is Received && elementsReturn) {
            giveBack(answer)
            result = CANCELLED
        } else if (limit != null && answer is Received) {
            result = withMore(answer, limit)
        }
        endIfDrained()
        return result
    }

    private fun giveBack(element: Received) {
        if (isCancelled) {
            dropped += element.value
        } else if (receivers.isNotEmpty()) {
            completed[receivers.removeFirst()] = element
        } else {
            returned += element
            returned.sortBy { it.number }
            if (onFull == OnFull.DROP_OLDEST) dropSurplus()
        }
    }

    fun resize(to: Int): Boolean {
        if (isClosed) return false
        capacity = to
        advance()
        return true
    }

    fun close(): Boolean {
        if (isClosed) return false
        isClosed = true
        for (sender in senders) completed[sender.id] = CLOSED
        senders.clear()
        endIfDrained()
        return true
    }

    fun cancel() {
        if (isCancelled) return
        close()
        isCancelled = true
        while (size > 0) dropped += removeFirst().value
        endIfDrained()
    }

    private fun put(element: Element) {
        if (receivers.isEmpty()) {
            inside += element
        } else {
            completed[receivers.removeFirst()] = Received(handedOut++, element.value)
        }
    }

    private fun advance() {
        while (room > 0) {
            val sender = head() ?: return
            admit(sender)
            if (sender.element == null) reserved++ else put(sender.element)
        }
    }

    private fun head(): Waiting? {
        val level = senderTurns.next(senders.map { it.level }.toSet())
        return senders.firstOrNull { level == null || it.level == level }
    }

    private fun admit(sender: Waiting) {
        senders -= sender
        senderTurns.served(sender.level, senders.map { it.level }.toSet())
        completed[sender.id] = if (sender.element == null) PLACE else SENT
    }

    private fun removeFirst(): Received {
        if (returned.isNotEmpty()) return returned.removeFirst()
        val level = insideTurns.next(inside.map { it.level }.toSet())
        val first = inside.first { level == null || it.level == level }
        inside -= first
        insideTurns.served(first.level, inside.map { it.level }.toSet())
        return Received(handedOut++, first.value)
    }

    private fun dropSurplus() {
        while (size > capacity) {
            if (returned.isNotEmpty() && (order == ChannelOrder.FIFO || inside.isEmpty())) {
                dropped += returned.removeFirst().value
                continue
            }
            val oldest = if (order == ChannelOrder.FIFO) inside.first() else inside.maxBy { it.level }
            inside -= oldest
            if (inside.none { it.level == oldest.level }) insideTurns.forget(oldest.level)
            dropped += oldest.value
        }
    }

    private fun endIfDrained() {
        if (!isDrained) return
        for (receiver in receivers) completed[receiver] = CLOSED
        receivers.clear()
    }

    /** Two models with the same state go on in the same way. */
    val state: List<Any>
        get() =
            listOf(
                inside.map { it.value to it.level },
                returned.map { it.number to it.value },
                reserved,
                receivers,
                limits.filterKeys { it in receivers || it in completed },
                senders.map { Triple(it.id, it.level, it.element?.value) },
                completed.mapValues { (_, answer) ->
                    if (answer is Received) answer.number to answer.value else answer
                },
                isClosed,
                isCancelled,
            )

    companion object {
        const val SENT = "sent"
        const val BUSY = "busy"
        const val CLOSED = "closed"
        const val PLACE = "a place"
        const val CANCELLED = "cancelled"
    }
}
