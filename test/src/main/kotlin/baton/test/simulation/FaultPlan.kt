package baton.test.simulation

import java.util.SplittableRandom
import kotlin.math.exp
import kotlin.math.ln

/**
 * When the faults of a seed happen. Half of them are due before a certain step of a node, and most of these hit that
 * node, so that also a job of some milliseconds is hit; the others after a time, of which each order of magnitude is as
 * probable as the next one.
 */
internal class FaultPlan(private val loop: VirtualLoop, private val random: SplittableRandom, private val until: Long) {
    private val bySteps = ArrayList<Planned>()
    private var steps = 0L

    /** The machine before whose step a fault happens; null if it happens at a time. */
    var stepping: Machine? = null
        private set

    private class Planned(val step: Long, val fault: () -> Unit)

    /** Has [fault] happen up to [times] times. */
    fun plan(times: Int, fault: () -> Unit) {
        repeat(random.nextInt(times + 1)) {
            if (random.nextInt(STEP_SHARE) == 0) bySteps += Planned(spread(1, MOST_STEPS), fault)
            else loop.after(spread(SOONEST, minOf(LATEST, until))) { if (loop.nanos < until) fault() }
        }
    }

    /** A node is about to take a step. */
    fun beforeStep(machine: Machine) {
        if (bySteps.isEmpty()) return
        steps++
        val due = bySteps.filter { it.step <= steps }
        if (due.isEmpty()) return
        bySteps.removeAll(due.toSet())
        stepping = machine
        if (loop.nanos < until) for (planned in due) planned.fault()
        stepping = null
    }

    /** At random, each order of magnitude as often. */
    fun spread(least: Long, most: Long): Long =
        if (most <= least) least else exp(random.nextDouble(ln(least.toDouble()), ln(most.toDouble()))).toLong()

    private companion object {
        const val STEP_SHARE = 2
        const val MOST_STEPS = 2_000L
        const val SOONEST = 1_000_000L
        const val LATEST = 60_000_000_000L
    }
}
