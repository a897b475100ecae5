package baton.channels.core

import baton.channels.ChannelOrder

/**
 * The elements in a channel: those that were sent, and before them those that receivers returned. Elements are numbered
 * when they are taken out, or handed over without having been buffered. Guarded by the channel's lock.
 */
internal class ElementBuffer(private val order: ChannelOrder) {
    private val elements = if (order == ChannelOrder.PRIORITY) PriorityElements() else FifoElements()
    private var undelivered: UndeliveredElements? = null
    private var lastNumber = 0

    /** The number of the element taken last. */
    var lastTaken: Int = 0
        private set

    val size: Int
        get() = elements.size + (undelivered?.size ?: 0)

    /** The number for an element that is handed over without having been buffered. */
    fun nextNumber(): Int = ++lastNumber

    fun add(element: Any, level: Int) {
        elements.add(element, level)
    }

    /**
     * Returns an element: before all that were not handed out, and among returned ones in the order of their numbers.
     */
    fun returnElement(element: Any, number: Int) {
        val undelivered = undelivered ?: UndeliveredElements().also { undelivered = it }
        undelivered.add(element, number)
    }

    /** Numbers an element that is received without having been buffered. */
    fun numberHandedOver() {
        lastTaken = nextNumber()
    }

    /** Removes the next element to be received. There must be one. */
    fun takeFirst(): Any {
        val undelivered = undelivered
        lastTaken = undelivered?.firstNumber() ?: nextNumber()
        return if (undelivered == null) elements.removeFirst() else removeFrom(undelivered)
    }

    /** Removes the element that makes room for a new one. There must be one. */
    fun removeOldest(): Any {
        val undelivered = undelivered
        val first = order == ChannelOrder.FIFO || elements.size == 0
        return if (first && undelivered != null) removeFrom(undelivered) else elements.removeOldest()
    }

    /** Drops the empty heap: it must not keep the memory of a burst of returned elements. */
    private fun removeFrom(undelivered: UndeliveredElements): Any {
        val element = undelivered.removeFirst()
        if (undelivered.size == 0) this.undelivered = null
        return element
    }
}
