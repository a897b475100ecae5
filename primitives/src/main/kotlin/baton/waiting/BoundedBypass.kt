package baton.waiting

import baton.Priority

/**
 * Whose turn it is among the five levels of [Priority]: the most urgent level first, and no level starves.
 *
 * A level that has something and is passed over counts one *pass* for everything that another level has served. Once
 * it has as many passes as it may have, it is the next to be served, and its passes start again from zero. So with
 * [BYPASS], while CRITICAL floods, HIGH gets every 65th place, NORMAL every 129th, LOW every 257th and IDLE every
 * 513th, and CRITICAL keeps 97 % of all places.
 *
 * The bounds are kept exactly. When several levels come to their end at the same time, they are served one after the
 * other so early that the last of them is in time: at most three places before its bound. Why that is enough: let
 * the levels that have something be in the order of the passes left to them. Always the i-th has at least i - 1 left.
 * If one has no more than that, the first is served, which makes all others one place earlier and one pass poorer. If
 * none has, any may be served. And whoever begins anew has [MIN_BYPASS] passes left at least, as many as others there
 * are.
 *
 * @param bypass how often each level may be passed over, in the order of [Priority], at least [MIN_BYPASS]; not
 *     changed.
 */
@InternalBatonApi
public class BoundedBypass(private val bypass: IntArray = BYPASS) {
    private val passes = IntArray(LEVELS)

    /** The level whose turn it is; -1 if all are empty. */
    public inline fun next(isEmpty: (level: Int) -> Boolean): Int {
        var mostUrgent = -1
        var mostPressing = -1
        var pressing = 0
        for (level in 0 until LEVELS) {
            if (isEmpty(level)) continue
            if (mostUrgent < 0) mostUrgent = level
            if (left(level) > MIN_BYPASS) continue
            pressing += 1 shl NIBBLE * left(level)
            if (mostPressing < 0 || left(level) < left(mostPressing)) mostPressing = level
        }
        return if (isTight(pressing)) mostPressing else mostUrgent
    }

    /** [served] had its turn; who [isEmpty] now is not passed over. */
    public inline fun served(served: Int, isEmpty: (level: Int) -> Boolean) {
        for (level in 0 until LEVELS) {
            if (level == served || isEmpty(level)) forget(level) else pass(level)
        }
    }

    /** [level] has nothing any more. */
    public fun forget(level: Int) {
        passes[level] = 0
    }

    /** How many passes are left to [level]. None is left as well to one that was not served although it had to be. */
    @PublishedApi
    internal fun left(level: Int): Int = maxOf(0, bypass[level] - passes[level])

    /** Whether one more pass would be too many; nibble n of [pressing] says how many levels have n passes left. */
    @PublishedApi
    internal fun isTight(pressing: Int): Boolean {
        var levels = 0
        for (left in 0..MIN_BYPASS) {
            levels += pressing shr NIBBLE * left and (1 shl NIBBLE) - 1
            if (levels > left) return true
        }
        return false
    }

    @PublishedApi
    internal fun pass(level: Int) {
        passes[level]++
    }

    public companion object {
        public val LEVELS: Int = Priority.entries.size

        /** How often each level may be passed over; CRITICAL is served as soon as none is pressing. */
        public val BYPASS: IntArray = intArrayOf(Int.MAX_VALUE, 64, 128, 256, 512)

        /** With less, several levels could not have their turn in time. */
        public const val MIN_BYPASS: Int = 3

        @PublishedApi
        internal const val NIBBLE: Int = 4
    }
}
