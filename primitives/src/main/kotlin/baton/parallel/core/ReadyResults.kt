package baton.parallel.core

/**
 * The results of elements that run, or whose results wait to be taken: one by one if [chunk] is 0, else in lists of
 * that many. A ring that grows with their number, guarded by this object's lock.
 *
 * Where [ordered], a slot without a result is an element that still runs, or one that has failed: the results behind
 * the latter are never taken.
 */
internal open class ReadyResults(private val ordered: Boolean, private val chunk: Int) : Results() {
    private var values = Array<Any?>(FIRST_SIZE) { NONE }
    private var weights = IntArray(FIRST_SIZE)

    /** The index of the next result, and that behind the last one. They may overflow: only their distance counts. */
    private var head = 0
    private var tail = 0

    /** How many slots in a row, from the head on, have their results. */
    private var ready = 0

    /** The weight of what [poll] has returned last. Confined to the caller of that. */
    protected var polledWeight = 0
        private set

    final override fun reserve(): Int = if (ordered) synchronized(this) { append() } else 0

    final override fun put(index: Int, weight: Int, value: Any?) {
        val isNew =
            synchronized(this) {
                val at = slotOf(if (ordered) index else append())
                values[at] = value
                weights[at] = weight
                val wasReady = hasReady(rest = false)
                while (ready < tail - head && values[slotOf(head + ready)] !== NONE) ready++
                !wasReady && hasReady(rest = false)
            }
        if (isNew) onReady()
    }

    /** [poll] returns something, and has not before. Without the lock. */
    protected open fun onReady() {}

    private fun slotOf(index: Int) = index and values.size - 1

    private fun append(): Int {
        val size = values.size
        if (tail - head == size) {
            val newValues = Array<Any?>(2 * size) { NONE }
            val newWeights = IntArray(2 * size)
            repeat(size) { distance ->
                val i = head + distance
                newValues[i and 2 * size - 1] = values[slotOf(i)]
                newWeights[i and 2 * size - 1] = weights[slotOf(i)]
            }
            // Both, or none if there is no memory.
            values = newValues
            weights = newWeights
        }
        return tail++
    }

    /** Whether [poll] returns something. */
    fun isReady(rest: Boolean): Boolean = synchronized(this) { hasReady(rest) }

    /** Under the lock. */
    private fun hasReady(rest: Boolean) = ready >= if (rest) 1 else maxOf(chunk, 1)

    /**
     * The next result or chunk; [NONE] if there is none yet. With [rest] a chunk may be shorter: no result will follow.
     */
    fun poll(rest: Boolean): Any? =
        synchronized(this) {
            polledWeight = 0
            when {
                !hasReady(rest) -> NONE
                chunk == 0 -> take()
                else -> List(minOf(ready, chunk)) { take() }
            }
        }

    private fun take(): Any? {
        val at = slotOf(head++)
        ready--
        polledWeight += weights[at]
        return values[at].also { values[at] = NONE }
    }

    private companion object {
        /** A power of two. */
        const val FIRST_SIZE = 16
    }
}
