package baton.waiting

import java.util.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class FifoWaitQueueTest {
    private val line = FifoWaitQueue()

    @Test
    fun waiter_takenOut_keepsNoNeighbourAlive() {
        val waiters = List(3) { FakeWaiter().also(line::add) }
        line.remove(waiters[1])
        assertNull(waiters[1].previous)
        assertNull(waiters[1].next)
        assertFalse(waiters[1].linked)
        assertSame(waiters[2], waiters[0].next)
        assertSame(waiters[0], waiters[2].previous)
    }

    @Test
    fun forEach_mayRemoveTheOneItIsGiven() {
        val waiters = List(6) { FakeWaiter(weight = it + 1).also(line::add) }
        line.forEach { if (it.weight % 2 == 0) line.remove(it) }
        assertEquals(listOf(1, 3, 5), contents().map { it.weight })
        line.forEach(line::remove)
        assertEquals(0, line.size)
        assertTrue(waiters.none { it.linked })
    }

    @Test
    fun line_behavesAsAList_whateverIsTakenOut() {
        val random = Random(42)
        val model = ArrayList<Waiter>()
        repeat(100_000) {
            if (model.isEmpty() || (model.size < 40 && random.nextInt(100) < 52)) {
                FakeWaiter().also(line::add).also(model::add)
            } else {
                line.remove(model.removeAt(random.nextInt(model.size)))
            }
            assertEquals(model.size, line.size)
            assertSame(model.firstOrNull(), line.head())
            if (it % 1_000 == 0) assertEquals(model, contents())
        }
    }

    private fun contents() = ArrayList<Waiter>().also { line.forEach(it::add) }
}
