package baton.scheduler.jdbc

import java.util.TreeMap
import kotlin.time.Duration
import kotlin.time.TimeMark
import kotlin.time.TimeSource

/**
 * Which numbers of a database's sequence were seen. A transaction takes its number before it commits, so a small number
 * may become visible after a greater one; the numbers that are missing below the greatest are gaps. A gap that stays
 * empty for [lookBack], as that of a transaction that was rolled back does, is given up.
 *
 * One thread at a time.
 */
internal class NumberGaps(private val lookBack: Duration, private val time: TimeSource = TimeSource.Monotonic) {
    /** The last number of a run of seen ones, and when the gap before it was noticed. */
    private class Run(var end: Long, val gapSince: TimeMark)

    /** The runs above [mark], by their first numbers. */
    private val runs = TreeMap<Long, Run>()

    /** Every number up to this one was seen or given up. */
    var mark = 0L
        private set

    /** The greatest number that was seen. */
    val greatest: Long
        get() = runs.lastEntry()?.value?.end ?: mark

    /** Begins anew: [numbers], sorted, are seen. Smaller ones than [window] below the greatest are given up. */
    fun reset(numbers: List<Long>, window: Long = WINDOW) {
        runs.clear()
        mark = ((numbers.lastOrNull() ?: 0) - window).coerceAtLeast(0)
        for (number in numbers) see(number)
    }

    fun hasSeen(number: Long): Boolean =
        number <= mark || runs.floorEntry(number).let { it != null && it.value.end >= number }

    /** Returns whether [number] was not seen before. */
    fun see(number: Long): Boolean {
        if (hasSeen(number)) return false
        val before = runs.floorEntry(number)
        val after = runs.higherEntry(number)
        val isNextToAfter = after != null && after.key == number + 1
        val end = if (isNextToAfter) after.value.end else number
        if (isNextToAfter) runs.remove(after.key)
        if (before != null && before.value.end == number - 1) before.value.end = end
        else runs[number] = Run(end, after?.value?.gapSince ?: time.markNow())
        if (runs.size > MOST_RUNS) giveUpFirst()
        settle()
        return true
    }

    /** Gives up the gaps that were noticed [lookBack] ago. */
    fun giveUpOld() {
        while (runs.isNotEmpty() && runs.firstEntry().value.gapSince.elapsedNow() >= lookBack) giveUpFirst()
    }

    private fun giveUpFirst() {
        mark = runs.pollFirstEntry().value.end
        settle()
    }

    private fun settle() {
        while (runs.isNotEmpty() && runs.firstKey() == mark + 1) mark = runs.pollFirstEntry().value.end
    }

    private companion object {
        const val WINDOW = 1_000L
        const val MOST_RUNS = 10_000
    }
}
