package baton.test.interleaving

import baton.monitoring.Deadlock
import baton.monitoring.core.standingDeadlocks

/** A run in which no coroutine is ready and no timer is set, although the body has not ended. */
internal class StuckRun(private val explorer: Explorer, private val bodyHasReturned: Boolean) {
    /** Who waits for what, and who holds that. */
    fun details(): String {
        val deadlocks = standingDeadlocks()
        val lines = explorer.waits(bodyHasReturned) + (deadlocks?.map(::textOf)?.sorted() ?: listOf(HOW))
        return lines.joinToString("", "\nThen nothing can go on:") { "\n  $it" }
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
    }
}
