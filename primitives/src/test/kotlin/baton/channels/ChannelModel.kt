package baton.channels

import baton.Priority

/**
 * Sequential model of a [Channel], as plain as possible: lists, one thread, and no hurry.
 *
 * The test identifies a waiting caller by a number of its choice. Operations return the results of the real ones. If an
 * operation also completes waiters, their results stay in [answers] until the test has looked.
 */
internal class ChannelModel(var capacity: Int, private val order: ChannelOrder, private val onFull: OnFull) {
    private class Element(val value: Int, val level: Priority)

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
    private val returned = mutableListOf<Int>()
    private val receivers = mutableListOf<Int>()
    private val senders = mutableListOf<Waiting>()
    private val senderTurns = Turns()

    var reserved = 0
        private set

    var isClosed = false
        private set

    private var isCancelled = false

    val size get() = inside.size + returned.size

    val waiting get() = receivers.size + senders.size

    /** Results of the waiters that were completed: SENT, CLOSED, or the element. */
    val answers = mutableMapOf<Int, Any>()

    val dropped = mutableListOf<Int>()

    private val drops get() = onFull != OnFull.SUSPEND

    private val room get() = capacity.toLong() + receivers.size - size - reserved

    private val isDrained get() = isCancelled || (isClosed && size == 0 && reserved == 0)

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
        if (drops) return SENT
        if (room > 0) {
            reserved++
            return SENT
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
    fun tryReceive(): Any = if (receivers.isEmpty()) take() else BUSY

    private fun take(): Any {
        if (size > 0) return removeFirst().also { advance() }
        if (isDrained) return CLOSED
        val sender = head()?.takeIf { it.element != null } ?: return BUSY
        admit(sender)
        return sender.element!!.value
    }

    fun receive(id: Int): Any {
        val answer = take()
        if (answer != BUSY && receivers.isEmpty()) return answer
        if (answer is Int) answers[receivers.removeFirst()] = answer
        receivers += id
        advance()
        return BUSY
    }

    /** Cancelled or timed out while it waited. */
    fun withdraw(id: Int) {
        receivers -= id
        val sender = senders.find { it.id == id } ?: return
        senders -= sender
        if (senders.none { it.level == sender.level }) senderTurns.forget(sender.level)
    }

    /** Cancelled after it had got [element], and before all elements that were handed out later. */
    fun giveBack(element: Int) {
        if (isCancelled) {
            dropped += element
            return
        }
        if (receivers.isNotEmpty()) {
            answers[receivers.removeFirst()] = element
            return
        }
        returned += element
        if (onFull == OnFull.DROP_OLDEST) dropSurplus()
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
        for (sender in senders) answers[sender.id] = CLOSED
        senders.clear()
        endIfDrained()
        return true
    }

    fun cancel() {
        if (isCancelled) return
        close()
        isCancelled = true
        while (size > 0) dropped += removeFirst()
        endIfDrained()
    }

    private fun put(element: Element) {
        if (receivers.isEmpty()) inside += element else answers[receivers.removeFirst()] = element.value
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
        answers[sender.id] = SENT
    }

    private fun removeFirst(): Int {
        if (returned.isNotEmpty()) return returned.removeFirst()
        val level = insideTurns.next(inside.map { it.level }.toSet())
        val first = inside.first { level == null || it.level == level }
        inside -= first
        insideTurns.served(first.level, inside.map { it.level }.toSet())
        return first.value
    }

    private fun dropSurplus() {
        while (size > capacity) {
            if (returned.isNotEmpty() && (order == ChannelOrder.FIFO || inside.isEmpty())) {
                dropped += returned.removeFirst()
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
        for (receiver in receivers) answers[receiver] = CLOSED
        receivers.clear()
    }

    companion object {
        const val SENT = "sent"
        const val BUSY = "busy"
        const val CLOSED = "closed"
    }
}
