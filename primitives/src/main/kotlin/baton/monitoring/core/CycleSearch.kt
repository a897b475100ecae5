package baton.monitoring.core

/**
 * Finds cycles in a directed graph: one in each strongly connected component that has any, a shortest one there.
 *
 * The components are Tarjan's ("Depth-first search and linear graph algorithms", 1972), in a loop, so that a chain of
 * any length needs no stack. O(vertices + edges) where there is no cycle.
 *
 * @param successors the successors of each vertex.
 */
internal class CycleSearch(private val successors: List<IntArray>) {
    private val size = successors.size

    /** When the vertex was reached, from 1; 0 if it was not yet. */
    private val reached = IntArray(size)

    /** The earliest vertex, by [reached], that is known to be in the same component. */
    private val earliest = IntArray(size)

    /** How many edges of the vertex were followed. */
    private val followed = IntArray(size)

    /** The vertices of the path from the root to the current vertex. */
    private val path = IntArray(size)
    private var pathLength = 0

    /** The vertices that were reached and have no component yet. */
    private val open = IntArray(size)
    private var openCount = 0
    private val component = IntArray(size) { NONE }
    private var reachedCount = 0

    /** The cycles, in no particular order; each begins with one of its vertices and follows the edges. */
    fun cycles(): List<List<Int>> {
        val cycles = ArrayList<List<Int>>()
        for (vertex in 0..<size) {
            if (reached[vertex] == 0) explore(vertex) { members -> shortestCycle(members)?.let(cycles::add) }
        }
        return cycles
    }

    private inline fun explore(root: Int, close: (IntArray) -> Unit) {
        enter(root)
        while (pathLength > 0) {
            val vertex = path[pathLength - 1]
            if (followed[vertex] < successors[vertex].size) {
                val next = successors[vertex][followed[vertex]++]
                when {
                    reached[next] == 0 -> enter(next)
                    component[next] == NONE -> earliest[vertex] = minOf(earliest[vertex], reached[next])
                }
            } else {
                pathLength--
                if (pathLength > 0) {
                    val before = path[pathLength - 1]
                    earliest[before] = minOf(earliest[before], earliest[vertex])
                }
                if (earliest[vertex] == reached[vertex]) close(takeComponent(vertex))
            }
        }
    }

    private fun enter(vertex: Int) {
        reachedCount++
        reached[vertex] = reachedCount
        earliest[vertex] = reachedCount
        path[pathLength++] = vertex
        open[openCount++] = vertex
    }

    /** The component of [first], which was reached before its other members. */
    private fun takeComponent(first: Int): IntArray {
        var from = openCount
        do {
            from--
            component[open[from]] = first
        } while (open[from] != first)
        return open.copyOfRange(from, openCount).also { openCount = from }
    }

    /**
     * A shortest cycle through one of the first [STARTS] of the [members]; null if they are one vertex without a loop.
     */
    private fun shortestCycle(members: IntArray): List<Int>? {
        if (members.size == 1) return members.toList().takeIf { members[0] in successors[members[0]] }
        return members.take(STARTS).map(::shortestCycleThrough).minBy { it.size }
    }

    /** By breadth-first search within the component of [start], which has a cycle through every member. */
    private fun shortestCycleThrough(start: Int): List<Int> {
        val before = HashMap<Int, Int>()
        val queue = ArrayDeque(listOf(start))
        while (true) {
            val vertex = queue.removeFirst()
            for (next in successors[vertex]) {
                if (next == start) return generateSequence(vertex, before::get).toList().asReversed()
                if (component[next] == component[start] && next !in before) {
                    before[next] = vertex
                    queue.addLast(next)
                }
            }
        }
    }

    private companion object {
        const val NONE = -1

        /** Bounds the work for a component of thousands of vertices, where the cycle may then be a longer one. */
        const val STARTS = 64
    }
}
