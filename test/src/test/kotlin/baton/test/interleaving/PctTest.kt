package baton.test.interleaving

import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class PctTest {
    private val coroutines = List(3) { ExploredCoroutine("c$it", null, isLaunched = true) }
    private val ready = coroutines.map { Step(it, Step.Kind.GOES_ON, null) {} }

    @Test
    fun highestPriority_goesOn_untilAChange() {
        val order = Pct(Random(1), depth = 3, length = 100)
        val chosen = (0..<100).map { order.choose(it, ready, emptyList()) }
        val runs = chosen.zipWithNext().count { (a, b) -> a != b } + 1
        assertEquals(3, runs)
        assertEquals(3, chosen.toSet().size)
    }

    /** Depth 1 is a random priority for each, so each of the six orders is as likely. */
    @Test
    fun priorities_areRandom() {
        val orders =
            (1..6_000).map { seed ->
                val order = Pct(Random(seed), depth = 1, length = 1)
                val left = ready.toMutableList()
                List(3) { step -> left.removeAt(order.choose(step, left, emptyList())).coroutine.name }
            }
        val counts = orders.groupingBy { it }.eachCount()
        assertEquals(6, counts.size)
        assertTrue(counts.values.all { it in 800..1_200 }, counts.toString())
    }
}
