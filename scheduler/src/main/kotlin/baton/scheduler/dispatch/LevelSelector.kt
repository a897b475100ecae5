package baton.scheduler.dispatch

import baton.waiting.BoundedBypass

/**
 * Chooses among the levels that have work. Guarded by the lock of its queue. The levels are passed as a mask that is
 * not zero: bit 0 is CRITICAL.
 */
internal abstract class LevelSelector {
    abstract fun select(mask: Int): Int

    /** Whether any level of [mask] may be selected now without breaking another level's bound. */
    open fun mayDeviate(mask: Int): Boolean = true

    /** Records that [level] was selected while the levels of [mask] had work. */
    abstract fun recordSelected(level: Int, mask: Int)

    /** All levels are empty. */
    abstract fun reset()
}

internal object StrictSelector : LevelSelector() {
    override fun select(mask: Int): Int = mask.mostUrgent()

    override fun recordSelected(level: Int, mask: Int) {}

    override fun reset() {}
}

internal class BoundedSelector(limits: IntArray) : LevelSelector() {
    private val bypass = BoundedBypass(limits)

    /** Whether a level may have been passed over since the last time that only one level had work. */
    private var hasBypassed = false

    override fun select(mask: Int): Int =
        if (mask.isOneLevel()) mask.mostUrgent() else bypass.next { mask and (1 shl it) == 0 }

    /** Adds CRITICAL, which has no bound, to the mask: if it is not selected, the bounds force another level. */
    override fun mayDeviate(mask: Int): Boolean =
        mask.isOneLevel() || bypass.next { (mask or CRITICAL) and (1 shl it) == 0 } == 0

    override fun recordSelected(level: Int, mask: Int) {
        val competed = !mask.isOneLevel()
        if (competed || hasBypassed) bypass.served(level) { mask and (1 shl it) == 0 }
        hasBypassed = competed
    }

    override fun reset() {
        if (hasBypassed) BoundedBypass.BYPASS.indices.forEach(bypass::forget)
        hasBypassed = false
    }

    private companion object {
        const val CRITICAL = 1
    }
}

/**
 * Stride scheduling (Waldspurger and Weihl, 1995). Each level has a pass value, and each selection adds its stride, the
 * inverse of its weight. The level with the smallest pass is next.
 */
internal class SharesSelector(weights: IntArray) : LevelSelector() {
    private val strides = LongArray(weights.size) { STRIDE_OF_WEIGHT_ONE / weights[it] }
    private val passes = LongArray(weights.size)
    private var active = 0
    private var globalPass = 0L

    override fun select(mask: Int): Int {
        activateNewcomers(mask)
        var best = -1
        for (level in passes.indices) {
            if (mask and (1 shl level) != 0 && (best < 0 || passes[level] < passes[best])) best = level
        }
        globalPass = passes[best]
        return best
    }

    /** A level that had no work starts at the pass of the level selected last: it has saved up no selections. */
    private fun activateNewcomers(mask: Int) {
        val newcomers = mask and active.inv()
        active = mask
        if (newcomers == 0) return
        for (level in passes.indices) {
            if (newcomers and (1 shl level) != 0) passes[level] = maxOf(passes[level], globalPass)
        }
    }

    override fun recordSelected(level: Int, mask: Int) {
        passes[level] += strides[level]
        if (passes[level] > MAX_PASS) rebasePasses()
    }

    override fun reset() {
        active = 0
    }

    /** Keeps the passes from overflowing. */
    private fun rebasePasses() {
        for (level in passes.indices) passes[level] = (passes[level] - globalPass).coerceIn(0, MAX_PASS / 2)
        globalPass = 0
    }

    private companion object {
        /** Weights are at most 1,000,000, so that rounding a stride changes a share by less than a millionth. */
        const val STRIDE_OF_WEIGHT_ONE = 1L shl 40
        const val MAX_PASS = 1L shl 60
    }
}

internal fun Int.mostUrgent(): Int = countTrailingZeroBits()

private fun Int.isOneLevel() = this and (this - 1) == 0
