package baton.waiting

import baton.Priority

/**
 * Most urgent level first, first come first served inside a level, and no level starves.
 *
 * A level that has waiters and is passed over counts one *pass* for every waiter of another level that is served. Once
 * it has [BYPASS] passes its head is the next to be served, and its passes start again from zero. If several levels are
 * overdue, the most urgent of them goes first. So while CRITICAL floods, HIGH gets every 65th place, NORMAL every 129th,
 * LOW every 257th and IDLE every 513th (each at most three places later, when others are overdue too), and CRITICAL
 * keeps 97 % of all places.
 *
 * The level of a waiter is its [Waiter.tag]; without one it is [Priority.NORMAL].
 */
internal class PriorityLine : WaitLine() {
    private val levels = Array(Priority.entries.size) { FifoLine() }
    private val passes = IntArray(levels.size)

    override fun add(waiter: Waiter) {
        levels[levelOf(waiter)].add(waiter)
        size++
    }

    override fun remove(waiter: Waiter) {
        val level = levelOf(waiter)
        levels[level].remove(waiter)
        if (levels[level].size == 0) passes[level] = 0
        size--
    }

    override fun head(): Waiter? {
        if (size == 0) return null
        for (level in levels.indices) {
            if (passes[level] >= BYPASS[level] && levels[level].size > 0) return levels[level].head()
        }
        return levels.first { it.size > 0 }.head()
    }

    override fun served(waiter: Waiter) {
        val served = levelOf(waiter)
        for (level in levels.indices) {
            if (level == served || levels[level].size == 0) passes[level] = 0 else passes[level]++
        }
    }

    override fun forEach(action: (Waiter) -> Unit) {
        for (level in levels) level.forEach(action)
    }

    private fun levelOf(waiter: Waiter) = ((waiter.tag as? Priority) ?: Priority.NORMAL).ordinal

    internal companion object {
        /** How often each level may be passed over; CRITICAL is served as soon as none is overdue. */
        val BYPASS: IntArray = intArrayOf(Int.MAX_VALUE, 64, 128, 256, 512)
    }
}
