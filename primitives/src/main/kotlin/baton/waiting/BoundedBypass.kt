package baton.waiting

import baton.InternalBatonApi
import baton.Priority

/**
 * Selects the level to serve next among the five levels of [Priority]: strict order with bounded bypass, so no level
 * starves.
 *
 * A nonempty level counts one *pass* for each entry that another level is served. At its bound of passes the level is
 * served next, and its passes restart at zero. So with [BYPASS], while CRITICAL floods, HIGH gets every 65th place,
 * NORMAL every 129th, LOW every 257th and IDLE every 513th, and CRITICAL keeps 97 % of all places.
 *
 * The bounds are exact. Levels that reach their bounds at the same time are served one after the other, the first of
 * them at most three places before its bound, so that the last one is in time. Proof: order the nonempty levels by the
 * passes left to them. The i-th always has at least i - 1 left. If a level has exactly that, the first level is served;
 * the others then move up by one and lose one pass. Otherwise any level may be served. A level that restarts has at
 * least [MIN_BYPASS] passes left, which is the number of the other levels.
 *
 * @param bypass how often each level may be passed over, in the order of [Priority], at least [MIN_BYPASS]; not
 *   changed.
 */
@InternalBatonApi
public class BoundedBypass(private val bypass: IntArray = BYPASS) {
    private val passes = IntArray(LEVELS)

    /** The level to serve next; -1 if all are empty. */
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

    /** Records that level [served] was served. A level that [isEmpty] now is not passed over. */
    public inline fun served(served: Int, isEmpty: (level: Int) -> Boolean) {
        for (level in 0 until LEVELS) {
            if (level == served || isEmpty(level)) forget(level) else pass(level)
        }
    }

    /** Records that [level] is empty. */
    public fun forget(level: Int) {
        passes[level] = 0
    }

    /** The passes left to [level]; 0 also after its bound was missed. */
    @PublishedApi internal fun left(level: Int): Int = maxOf(0, bypass[level] - passes[level])

    /** Whether one more pass would exceed a bound; nibble n of [pressing] counts the levels with n passes left. */
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

        /** How often each level may be passed over; CRITICAL is served unless another level is at its bound. */
        public val BYPASS: IntArray = intArrayOf(Int.MAX_VALUE, 64, 128, 256, 512)

        /** Below this, several levels could not all be served within their bounds. */
        public const val MIN_BYPASS: Int = 3

        @PublishedApi internal const val NIBBLE: Int = 4
    }
}
