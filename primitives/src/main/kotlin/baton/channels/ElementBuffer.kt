package baton.channels

/**
 * What a channel holds: what was sent, and before it what receivers gave back. Elements are numbered as they are taken
 * out, or handed over past the channel. Guarded by the channel's lock.
 */
internal class ElementBuffer(private val order: ChannelOrder) {
    private val elements = if (order == ChannelOrder.PRIORITY) PriorityElements() else FifoElements()
    private var returned: UndeliveredElements? = null
    private var lastNumber = 0

    /** The number of what was taken last. */
    var lastTaken: Int = 0
        private set

    val size: Int get() = elements.size + (returned?.size ?: 0)

    /** The number of an element that is handed over without having been held. */
    fun nextNumber(): Int = ++lastNumber

    fun add(element: Any, level: Int) {
        elements.add(element, level)
    }

    /** Before all that was not handed out, and between those that were as they had been taken. */
    fun putBack(element: Any, number: Int) {
        val returned = returned ?: UndeliveredElements().also { returned = it }
        returned.add(element, number)
    }

    /** Numbers an element that is received without having been held. */
    fun takePast() {
        lastTaken = nextNumber()
    }

    /** The next to be received. There must be one. */
    fun takeFirst(): Any {
        val returned = returned
        lastTaken = returned?.firstNumber() ?: nextNumber()
        return if (returned == null) elements.removeFirst() else removeFrom(returned)
    }

    /** The one that makes room for others. There must be one. */
    fun removeOldest(): Any {
        val returned = returned
        val first = order == ChannelOrder.FIFO || elements.size == 0
        return if (first && returned != null) removeFrom(returned) else elements.removeOldest()
    }

    /** Once empty it goes: a burst of give-backs must not keep the room that it took. */
    private fun removeFrom(returned: UndeliveredElements): Any {
        val element = returned.removeFirst()
        if (returned.size == 0) this.returned = null
        return element
    }
}
