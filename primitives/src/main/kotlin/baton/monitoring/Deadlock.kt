package baton.monitoring

import baton.monitoring.core.since
import baton.monitoring.core.whereTaken
import kotlin.time.Duration

/**
 * Callers that wait for each other in a cycle: each edge's lock is held by the waiter of the next edge, and the last
 * one's by the waiter of the first. None of them goes on unless one is cancelled or times out. Found by
 * [Deadlocks.find].
 *
 * [toString] is a report for people: who waits for what and since when, who holds it since when, and where it was
 * taken.
 *
 * @property cycle the edges, at least one. A caller that waits for a lock which it holds itself is a cycle of one.
 */
public class Deadlock(public val cycle: List<Edge>) {
    /**
     * One caller of the cycle, and what it waits for.
     *
     * @property waiter the caller: the name of its coroutine or thread, and its owner. "through its child" says that a
     *   child of its coroutine waits; it is a deadlock only if the coroutine waits for that child.
     * @property waitsFor the lock, by its name.
     * @property heldBy the caller that holds the lock.
     * @property takenAt the call by which it took the lock, as a stack trace; null if unknown. It was never thrown.
     */
    public class Edge(
        public val waiter: String,
        public val waitsFor: String,
        public val heldBy: String,
        public val takenAt: Throwable?,
    ) {
        @get:JvmSynthetic @set:JvmSynthetic internal var waited: Duration? = null

        @get:JvmSynthetic @set:JvmSynthetic internal var held: Duration? = null

        override fun toString(): String =
            "$waiter waits for $waitsFor${since(waited)}, held by $heldBy${since(held)}${whereTaken(takenAt)}"
    }

    override fun toString(): String = cycle.joinToString("\n", prefix = "Deadlock of ${cycle.size}:\n") { "  $it" }
}
