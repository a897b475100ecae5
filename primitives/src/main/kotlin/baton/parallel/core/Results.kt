package baton.parallel.core

/**
 * Where the results of a map go. [reserve] is called by the puller for each element that is started, in the order of
 * the source; [put] by any thread, once at most for each reserved index.
 */
internal abstract class Results {
    /** Whether a result keeps the places of its element, and its reader gives them back. */
    open val holdPlaces: Boolean
        get() = false

    /** A place for the result of the element that was started last. */
    abstract fun reserve(): Int

    /** Stores the result of the element at [index], whose weight in places is [weight]. */
    abstract fun put(index: Int, weight: Int, value: Any?)

    /** Called once, after the last [put] has returned and when no [reserve] will follow. */
    open fun onOver() {}
}

/** For callers that want no results. */
internal object NoResults : Results() {
    override fun reserve(): Int = 0

    override fun put(index: Int, weight: Int, value: Any?) {}
}

/** The results of a call that returns a list. */
internal abstract class ListResults : Results() {
    /** Call it when the map is over. */
    abstract fun toList(): MutableList<Any?>
}

/**
 * In the order of the source. Each segment is twice as large as the one before it and never moves, so every thread
 * writes to its own slot without a lock. The puller adds segments; a thread that knows an index sees its segment,
 * because the puller has reserved the index before it started the element.
 */
internal class OrderedResults : ListResults() {
    private val segments = arrayOfNulls<Array<Any?>>(SEGMENTS)
    private var size = 0

    override fun reserve(): Int {
        val index = size++
        val segment = segmentOf(index)
        if (segments[segment] == null) segments[segment] = arrayOfNulls(FIRST_SIZE shl segment)
        return index
    }

    override fun put(index: Int, weight: Int, value: Any?) {
        val segment = segmentOf(index)
        segments[segment]!![index - startOf(segment)] = value
    }

    override fun toList(): MutableList<Any?> {
        val all = ArrayList<Any?>(size)
        for (segment in segments) {
            if (all.size == size) break
            all.addAll(segment!!.asList().subList(0, minOf(segment.size, size - all.size)))
        }
        return all
    }

    private fun segmentOf(index: Int) = FIRST_BITS - (index + FIRST_SIZE).countLeadingZeroBits()

    private fun startOf(segment: Int) = (FIRST_SIZE shl segment) - FIRST_SIZE

    private companion object {
        const val FIRST_SIZE = 16

        /** The leading zero bits of [FIRST_SIZE]. */
        const val FIRST_BITS = 27
        const val SEGMENTS = 27
    }
}

/** In the order in which the elements ended. */
internal class UnorderedResults : ListResults() {
    private val values = ArrayList<Any?>()

    override fun reserve(): Int = 0

    override fun put(index: Int, weight: Int, value: Any?) {
        synchronized(this) { values.add(value) }
    }

    override fun toList(): MutableList<Any?> = synchronized(this) { values }
}
