package baton.monitoring

import baton.monitoring.core.CycleSearch
import java.util.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class CycleSearchTest {
    private fun graph(vararg successors: List<Int>) = successors.map { it.toIntArray() }

    private fun cycles(graph: List<IntArray>) = CycleSearch(graph).cycles()

    private fun sets(graph: List<IntArray>) = cycles(graph).map { it.toSet() }.toSet()

    @Test
    fun emptyGraph_hasNoCycle() {
        assertEquals(emptyList<List<Int>>(), cycles(graph()))
    }

    @Test
    fun treeAndDiamond_haveNoCycle() {
        assertEquals(emptyList<List<Int>>(), cycles(graph(listOf(1, 2), listOf(3), listOf(3), listOf())))
    }

    @Test
    fun loop_isACycleOfOne() {
        assertEquals(listOf(listOf(1)), cycles(graph(listOf(1), listOf(1), listOf(1))))
    }

    @Test
    fun ring_isFoundInTheOrderOfItsEdges() {
        val cycle = cycles(graph(listOf(2), listOf(0), listOf(1))).single()
        val from = cycle.indexOf(0)
        assertEquals(listOf(0, 2, 1), List(3) { cycle[(from + it) % 3] })
    }

    @Test
    fun twoRings_joinedByABridge_areTwoCycles() {
        val graph = graph(listOf(1), listOf(0, 2), listOf(3), listOf(2))
        assertEquals(setOf(setOf(0, 1), setOf(2, 3)), sets(graph))
    }

    @Test
    fun component_ofSeveralCycles_givesAShortestOne() {
        // 0 → 1 → 2 → 3 → 0, and 2 → 1.
        assertEquals(setOf(setOf(1, 2)), sets(graph(listOf(1), listOf(2), listOf(3, 1), listOf(0))))
    }

    @Test
    fun verticesThatOnlyLeadIntoACycle_areNotInIt() {
        assertEquals(setOf(setOf(1, 2)), sets(graph(listOf(1), listOf(2), listOf(1), listOf(0))))
    }

    @Test
    fun chainOfAMillion_needsNoStack() {
        val size = 1_000_000
        assertEquals(
            emptyList<List<Int>>(),
            cycles(List(size) { if (it + 1 < size) intArrayOf(it + 1) else intArrayOf() }),
        )
    }

    @Test
    fun ringOfAHundredThousand_isFound() {
        val size = 100_000
        assertEquals(size, cycles(List(size) { intArrayOf((it + 1) % size) }).single().size)
    }

    @Test
    fun randomGraphs_giveACycle_whereAVertexReachesItself() {
        val random = Random(7)
        repeat(2_000) {
            val size = 1 + random.nextInt(8)
            val graph = List(size) { IntArray(random.nextInt(3)) { random.nextInt(size) } }
            val reach = reachability(graph)
            val found = cycles(graph)
            for (cycle in found) {
                assertEquals(cycle.size, cycle.toSet().size)
                cycle.forEachIndexed { i, vertex -> assertTrue(cycle[(i + 1) % cycle.size] in graph[vertex]) }
                val component = graph.indices.filter { reach[it][cycle[0]] && reach[cycle[0]][it] }
                assertEquals(component.minOf { distance(graph, it) }, cycle.size)
            }
            val onCycles = graph.indices.filter { reach[it][it] }
            val components = onCycles.map { v -> onCycles.filter { reach[v][it] && reach[it][v] } }.toSet()
            assertEquals(components.size, found.size)
        }
    }

    private fun reachability(graph: List<IntArray>): List<BooleanArray> {
        val reach = List(graph.size) { v -> BooleanArray(graph.size) { it in graph[v] } }
        for (k in graph.indices) for (i in graph.indices) for (j in graph.indices) {
            if (reach[i][k] && reach[k][j]) reach[i][j] = true
        }
        return reach
    }

    /** The length of the shortest cycle through [vertex]. */
    private fun distance(graph: List<IntArray>, vertex: Int): Int {
        var seen = graph[vertex].toSet()
        var length = 1
        while (vertex !in seen && length <= graph.size) {
            seen = seen + seen.flatMap { graph[it].toList() }
            length++
        }
        return if (vertex in seen) length else Int.MAX_VALUE
    }
}
