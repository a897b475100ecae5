package baton.monitoring.core

import baton.monitoring.Deadlock
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.Holder
import baton.waiting.holders.LockLook
import java.lang.ref.WeakReference
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds

/**
 * Reports the cycles that have stood for [standing]: between two looks, or since the last of their waits and holds
 * began if all of that is noted.
 *
 * A cycle is the notes of its waits and holds. A note stands for one wait or one hold, so a cycle whose notes are all
 * still there has not been dissolved in between.
 *
 * @param isClockOfNotes whether [nanos] is the clock of the notes. Otherwise only the time between looks counts.
 */
internal class DeadlockSearch(
    private val nanos: () -> Long = System::nanoTime,
    private val standing: Duration = MIN_STANDING,
    private val isClockOfNotes: Boolean = false,
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
        val added = new.map { SeenCycle(it, beginOf(it, now)) }
        seen = still.map { it.first } + added
        return (still + confirmed(added.filter { it.since != now }))
            .filter { (cycle, _) -> (now - cycle.since).nanoseconds >= standing }
            .map { (key, steps) -> key to report(steps) }
    }

    /** Those of [cycles] which a look that begins now finds, too: one look alone is not of one moment. */
    private fun confirmed(cycles: List<SeenCycle>): List<Pair<SeenCycle, List<WaitForGraph.Step>>> {
        if (cycles.isEmpty()) return emptyList()
        val graph = WaitForGraph(looks())
        return cycles.mapNotNull { cycle -> cycle.notes()?.let(graph::standing)?.let { cycle to it } }
    }

    /** When the last wait or hold of the cycle began; [now] if that is unknown of one of them. */
    private fun beginOf(steps: List<WaitForGraph.Step>, now: Long): Long {
        if (!isClockOfNotes) return now
        var age = Long.MAX_VALUE
        for (step in steps) {
            val wait = step.waiting.caller.wait
            val held = step.hold.caller.heldSince
            if (wait == null || !wait.isExact || held == null) return now
            age = minOf(age, now - wait.since, now - held)
        }
        return now - maxOf(age, 0)
    }

    private fun report(steps: List<WaitForGraph.Step>): Deadlock {
        val now = System.nanoTime()
        return Deadlock(
            steps.indices.map { i ->
                val step = steps[i]
                val waiter = step.waiting.caller
                val holder = steps[(i + steps.size - 1) % steps.size].hold.caller
                val held = step.hold.caller
                Deadlock.Edge(waiterText(holder, waiter), lockText(step), held.describe(), held.reportedSite()).also {
                    it.waited = forPeople(now - (waiter.wait?.since ?: now))
                    it.held = held.heldFor()
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
