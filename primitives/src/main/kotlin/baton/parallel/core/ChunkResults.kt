package baton.parallel.core

/**
 * Results in the order of the source, which leave in chunks of [size]. It keeps them, and the slots of the elements
 * that still run or have failed, until they are polled. This object's lock guards all of it.
 */
internal class ChunkResults(private val size: Int) : Results() {
    /** Begins with the first result that was not polled; a slot without a result is [NONE]. */
    private val values = ArrayDeque<Any?>()

    /** The index of the first slot. It may overflow: only the distance to it counts. */
    private var first = 0

    /** How many slots in a row, from the first one on, have their results. */
    private var ready = 0

    override fun reserve(): Int =
        synchronized(this) {
            values.addLast(NONE)
            first + values.size - 1
        }

    override fun put(index: Int, weight: Int, value: Any?) {
        synchronized(this) {
            values[index - first] = value
            while (ready < values.size && values[ready] !== NONE) ready++
        }
    }

    /** Whether [poll] returns a chunk. */
    fun hasChunk(rest: Boolean): Boolean = synchronized(this) { ready >= (if (rest) 1 else size) }

    /** The next chunk, and null if it is not complete. With [rest] it may be shorter: no result will follow. */
    fun poll(rest: Boolean): List<Any?>? {
        synchronized(this) {
            if (!hasChunk(rest)) return null
            val chunk = ArrayList<Any?>(minOf(ready, size))
            while (chunk.size < size && ready > 0) {
                chunk += values.removeFirst()
                ready--
                first++
            }
            return chunk
        }
    }
}
