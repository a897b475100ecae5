package baton.parallel.core

import baton.sync.Semaphore
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.FlowCollector

/**
 * The results of a flow, from their end until they are emitted: a ring that grows with the number of elements that run
 * or wait. The ring is guarded by this object's lock. A result keeps the permits of its element in [places] until the
 * emitter, one coroutine, has taken it.
 *
 * Where [ordered], a slot without a result is an element that still runs, or one that has failed: the results behind
 * the latter are never emitted.
 */
internal class Emissions(private val ordered: Boolean, private val places: Semaphore) : Results() {
    private var values = Array<Any?>(FIRST_SIZE) { NONE }
    private var weights = IntArray(FIRST_SIZE)

    /** The index of the next result, and that behind the last one. They may overflow: only their distance counts. */
    private var head = 0
    private var tail = 0

    /** Tells the emitter to look again. */
    private val changes = Channel<Unit>(Channel.CONFLATED)

    override val holdPlaces: Boolean
        get() = true

    override fun reserve(): Int = if (ordered) synchronized(this) { append() } else 0

    override fun put(index: Int, weight: Int, value: Any?) {
        val isNext =
            synchronized(this) {
                val at = if (ordered) index else append()
                values[at and values.size - 1] = value
                weights[at and values.size - 1] = weight
                at == head
            }
        if (isNext) changes.trySend(Unit)
    }

    override fun onOver() {
        changes.trySend(Unit)
    }

    private fun append(): Int {
        val size = values.size
        if (tail - head == size) {
            val oldValues = values
            val oldWeights = weights
            values = Array(2 * size) { NONE }
            weights = IntArray(2 * size)
            repeat(size) { distance ->
                val i = head + distance
                values[i and 2 * size - 1] = oldValues[i and size - 1]
                weights[i and 2 * size - 1] = oldWeights[i and size - 1]
            }
        }
        return tail++
    }

    /** The next result, whose places are free then; [NONE] if there is none yet. */
    private fun poll(): Any? {
        val weight: Int
        val value: Any?
        synchronized(this) {
            if (head == tail) return NONE
            val at = head and values.size - 1
            value = values[at]
            if (value === NONE) return NONE
            weight = weights[at]
            values[at] = NONE
            head++
        }
        places.release(weight)
        return value
    }

    /** Emits the results until [core] is over. */
    suspend fun <R> emitTo(collector: FlowCollector<R>, core: MapCore) {
        while (true) {
            val isOver = core.isOver
            val value = poll()
            when {
                value !== NONE -> @Suppress("UNCHECKED_CAST") collector.emit(value as R)
                isOver -> return
                else -> changes.receive()
            }
        }
    }

    private companion object {
        /** A power of two. */
        const val FIRST_SIZE = 16
    }
}
