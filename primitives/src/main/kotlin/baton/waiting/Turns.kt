package baton.waiting

import baton.Priority

/**
 * Whose turn it is among the five levels of [Priority]: the most urgent level first, and no level starves.
 *
 * A level that has something and is passed over counts one *pass* for everything that another level has served. Once
 * it has [BYPASS] passes it is the next to be served, and its passes start again from zero. If several levels are
 * overdue, the most urgent of them goes first. So while CRITICAL floods, HIGH gets every 65th place, NORMAL every 129th,
 * LOW every 257th and IDLE every 513th (each at most three places later, when others are overdue too), and CRITICAL
 * keeps 97 % of all places.
 */
internal class Turns {
    private val passes = IntArray(LEVELS)

    /** The level whose turn it is; -1 if all are empty. */
    inline fun next(isEmpty: (level: Int) -> Boolean): Int {
        var first = -1
        for (level in 0 until LEVELS) {
            if (isEmpty(level)) continue
            if (isOverdue(level)) return level
            if (first < 0) first = level
        }
        return first
    }

    /** [served] had its turn; who [isEmpty] now is not passed over. */
    inline fun served(served: Int, isEmpty: (level: Int) -> Boolean) {
        for (level in 0 until LEVELS) {
            if (level == served || isEmpty(level)) forget(level) else pass(level)
        }
    }

    /** [level] has nothing any more. */
    fun forget(level: Int) {
        passes[level] = 0
    }

    fun isOverdue(level: Int): Boolean = passes[level] >= BYPASS[level]

    fun pass(level: Int) {
        passes[level]++
    }

    internal companion object {
        val LEVELS: Int = Priority.entries.size

        /** How often each level may be passed over; CRITICAL is served as soon as none is overdue. */
        val BYPASS: IntArray = intArrayOf(Int.MAX_VALUE, 64, 128, 256, 512)
    }
}
