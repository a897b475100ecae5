package baton.scheduler.dispatch

import baton.waiting.BoundedBypass

/**
 * Chooses among the levels that have work, for one worker; never used by two threads at a time. The levels are given as
 * a mask that is not zero: bit 0 stands for CRITICAL.
 */
internal abstract class LevelSelector {
    abstract fun next(mask: Int): Int

    /** Whether any level of [mask] may have the turn now, without another's bound being broken by it. */
    open fun isFree(mask: Int): Boolean = true

    /** [level] had its turn, while those of [mask] had work. */
    abstract fun served(level: Int, mask: Int)

    /** Whether it must be told of every level that has work, to keep its bounds. */
    open val isExact: Boolean get() = false

    /** All levels were empty. */
    abstract fun forget()
}

internal object StrictPicker : LevelSelector() {
    override fun next(mask: Int): Int = mask.mostUrgent()

    override fun served(level: Int, mask: Int) {}

    override fun forget() {}
}

internal class BoundedPicker(limits: IntArray) : LevelSelector() {
    private val turns = BoundedBypass(limits)

    override val isExact: Boolean get() = true

    /** Whether any level has been passed over since the last time that only one had work. */
    private var passedOver = false

    override fun next(mask: Int): Int =
        if (mask.isOneLevel()) mask.mostUrgent() else turns.next { mask and (1 shl it) == 0 }

    /** Nothing presses CRITICAL: beside it, whoever has the turn must have it. */
    override fun isFree(mask: Int): Boolean =
        mask.isOneLevel() || turns.next { (mask or CRITICAL) and (1 shl it) == 0 } == 0

    override fun served(level: Int, mask: Int) {
        val competed = !mask.isOneLevel()
        if (competed || passedOver) turns.served(level) { mask and (1 shl it) == 0 }
        passedOver = competed
    }

    override fun forget() {
        if (passedOver) BoundedBypass.BYPASS.indices.forEach(turns::forget)
        passedOver = false
    }

    private companion object {
        const val CRITICAL = 1
    }
}

/**
 * Every level has a clock, which a turn moves by the inverse of the level's weight; the clock that is most behind is
 * next.
 */
internal class SharesPicker(weights: IntArray) : LevelSelector() {
    private val strides = LongArray(weights.size) { SECOND / weights[it] }
    private val clocks = LongArray(weights.size)
    private var known = 0
    private var now = 0L

    override fun next(mask: Int): Int {
        catchUp(mask)
        var best = -1
        for (level in clocks.indices) {
            if (mask and (1 shl level) != 0 && (best < 0 || clocks[level] < clocks[best])) best = level
        }
        now = clocks[best]
        return best
    }

    /** Whoever had nothing to do begins now, as if it had been served all the time. */
    private fun catchUp(mask: Int) {
        val newcomers = mask and known.inv()
        known = mask
        if (newcomers == 0) return
        for (level in clocks.indices) {
            if (newcomers and (1 shl level) != 0) clocks[level] = maxOf(clocks[level], now)
        }
    }

    override fun served(level: Int, mask: Int) {
        clocks[level] += strides[level]
        if (clocks[level] > FAR) rewind()
    }

    override fun forget() {
        known = 0
    }

    private fun rewind() {
        for (level in clocks.indices) clocks[level] = (clocks[level] - now).coerceIn(0, FAR / 2)
        now = 0
    }

    private companion object {
        const val SECOND = 1L shl 40
        const val FAR = 1L shl 60
    }
}

internal fun Int.mostUrgent(): Int = countTrailingZeroBits()

private fun Int.isOneLevel() = this and (this - 1) == 0
