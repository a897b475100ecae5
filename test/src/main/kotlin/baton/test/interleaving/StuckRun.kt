package baton.test.interleaving

import baton.monitoring.Deadlock
import baton.monitoring.core.standingDeadlocks

/** A run in which no coroutine is ready and no timer is set, although the body has not ended. */
internal class StuckRun(private val explorer: Explorer, private val bodyHasReturned: Boolean) {
    /** The waiting callers, and the holders of the objects that they wait for. */
    fun details(): String {
        val deadlocks = standingDeadlocks()
        val clocks = explorer.manualClocks.filter { it.usage().waiting > 0 }.map { "$it has timers: $ADVANCE" }
        val holders = deadlocks?.map(::textOf)?.sorted() ?: listOf(HOW)
        val lines = explorer.coroutines.active().map(::waitOf) + clocks + holders
        return lines.joinToString("", "\nThen nothing can go on:") { "\n  $it" }
    }

    private fun waitOf(coroutine: ExploredCoroutine): String {
        if (bodyHasReturned && !coroutine.isLaunched) return "$coroutine waits for what it launched"
        val call = coroutine.call?.takeIf { it.isWaiting }
        val line = coroutine.frame?.let { if (call == null) outermostLineOf(it) else lineOf(it) }
        val place = if (line == null) "" else " at $line"
        return if (call == null) "$coroutine is suspended$place"
        else "$coroutine waits for ${call.core.verbOf(call)} of ${call.core}$place"
    }

    /** Where the cycle begins is arbitrary, so that the text begins with the first of its lines. */
    private fun textOf(deadlock: Deadlock): String {
        val edges = deadlock.cycle.map(::textOf)
        val first = edges.indexOf(edges.min())
        return (edges.drop(first) + edges.take(first)).joinToString("", "a cycle of ${edges.size}:") { "\n    $it" }
    }

    private fun textOf(edge: Deadlock.Edge): String {
        val line = edge.takenAt?.stackTrace?.firstNotNullOfOrNull(::lineOf)
        val taken = if (line == null) "" else ", taken at $line"
        return "${edge.waiter} waits for ${edge.waitsFor}, held by ${edge.heldBy}$taken"
    }

    private companion object {
        const val HOW = "-Dbaton.deadlocks=true names the holders, too"
        const val ADVANCE = "a coroutine of the body has to advance it, or the object needs no clock in explore"
    }
}
