package baton.monitoring.core

import baton.monitoring.Deadlock
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.Holder
import baton.waiting.holders.LockLook
import java.lang.ref.WeakReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds

/**
 * Reports the cycles that stand between two looks, at least [standing] apart.
 *
 * A cycle is the notes of its waits and holds. A note stands for one wait or one hold, so a cycle whose notes are all
 * still there has not been dissolved in between.
 */
internal class DeadlockSearch(
    private val nanos: () -> Long = System::nanoTime,
    private val standing: Duration = MIN_STANDING,
    private val looks: () -> List<LockLook> = DeadlockDetection::looks,
) {
    /** Guarded by this. */
    private var seen = emptyList<SeenCycle>()

    /** A cycle, and when it was first seen. Refers to the notes weakly: they belong to the locks. */
    private class SeenCycle(steps: List<WaitForGraph.Step>, val since: Long) {
        private val notes = steps.map { WeakReference(it.waiting.caller) to WeakReference(it.hold.caller) }

        /** Null if a note is not in memory any more. */
        fun notes(): List<Pair<Holder, Holder>>? =
            notes.map { (waiter, holder) -> (waiter.get() ?: return null) to (holder.get() ?: return null) }
    }

    /** One look. */
    fun find(): List<Deadlock> = find(WaitForGraph(looks())).map { it.second }

    /** A look that has led to [graph]. The first of a pair is the same object in every look that finds the cycle. */
    @Synchronized
    fun find(graph: WaitForGraph): List<Pair<Any, Deadlock>> {
        val now = nanos()
        val still = seen.mapNotNull { cycle -> cycle.notes()?.let(graph::standing)?.let { cycle to it } }
        val known = still.flatMapTo(HashSet()) { (_, steps) -> steps.map { it.waiting.caller } }
        val new = graph.cycles().filter { steps -> steps.none { it.waiting.caller in known } }
        seen = still.map { it.first } + new.map { SeenCycle(it, now) }
        return still
            .filter { (cycle, _) -> (now - cycle.since).nanoseconds >= standing }
            .map { (key, steps) -> key to report(steps) }
    }

    private fun report(steps: List<WaitForGraph.Step>): Deadlock {
        val now = System.nanoTime()
        return Deadlock(
            steps.indices.map { i ->
                val step = steps[i]
                val waiter = step.waiting.caller
                val holder = steps[(i + steps.size - 1) % steps.size].hold.caller
                val waited = (now - (waiter.wait?.since ?: now)).nanoseconds.inWholeMilliseconds.milliseconds
                val held = step.hold.caller
                Deadlock.Edge(waiterText(holder, waiter), lockText(step), held.describe(), held.takenAt).also {
                    it.waited = waited
                }
            }
        )
    }

    /** [holder] holds the lock of the edge before. */
    private fun waiterText(holder: Holder, waiter: Holder): String {
        val job = holder.liveHolder()
        if (job == null || waiter.job == null || job === waiter.job) return waiter.describe()
        val child = if (waiter.name == holder.name && waiter.name != null) "" else " ${waiter.coroutine()}"
        return "${holder.describe()} through its child$child"
    }

    private fun lockText(step: WaitForGraph.Step): String {
        val mode = step.waiting.wait.mode
        val label = step.waiting.lock.label()
        return if (mode == null) label else "$label ($mode)"
    }

    companion object {
        val MIN_STANDING: Duration = 1.seconds
    }
}
