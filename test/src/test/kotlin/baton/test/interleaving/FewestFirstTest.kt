package baton.test.interleaving

import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FewestFirstTest {
    /** The orders of a body that has [ready] choices at each step, and once the choice of [victims]. */
    private fun ordersOf(vararg ready: Int, victims: Int = 0): List<StepChoices> {
        val orders = FewestFirst(Random(1))
        val alternatives = Alternatives()
        for (count in ready) alternatives.add(count, victims)
        val found = ArrayList<StepChoices>()
        var next: StepChoices? = StepChoices.NONE
        while (next != null) {
            found += next
            assertFalse(orders.hasTriedAll && found.size > 1)
            orders.hasRun(next, alternatives)
            next = orders.next()
        }
        assertTrue(orders.hasTriedAll)
        return found
    }

    @Test
    fun orders_areEachOnce_withFewestUnusualChoicesFirst() {
        val orders = ordersOf(3, 1, 2, 2)
        assertEquals(12, orders.size)
        assertEquals(12, orders.map { it.toString() }.toSet().size)
        assertEquals(orders.map { it.unusual.size }.sorted(), orders.map { it.unusual.size })
    }

    @Test
    fun orders_cancelOnceAtMost() {
        val orders = ordersOf(2, 2, 2, victims = 3)
        assertEquals(8 + 9 * 4, orders.size)
        assertTrue(orders.all { order -> order.unusual.count { order[it] < 0 } <= 1 })
    }

    @Test
    fun longRun_isNotTriedAll() {
        val orders = FewestFirst(Random(1))
        val alternatives = Alternatives()
        repeat(5_000) { alternatives.add(1, 0) }
        orders.hasRun(StepChoices.NONE, alternatives)
        assertEquals(null, orders.next())
        assertFalse(orders.hasTriedAll)
    }
}
