package baton.scheduler.schedule

/** A growing list of slots. */
internal class IntList {
    private var elements = IntArray(0)

    var size = 0
        private set

    operator fun get(index: Int): Int = elements[index]

    fun add(element: Int) {
        if (size == elements.size) elements = elements.copyOf(maxOf(INITIAL, 2 * size))
        elements[size++] = element
    }

    fun clear() {
        size = 0
    }

    /** Removes and returns the last one, or returns -1 if there is none. */
    fun removeLast(): Int = if (size == 0) -1 else elements[--size]

    private companion object {
        const val INITIAL = 16
    }
}
