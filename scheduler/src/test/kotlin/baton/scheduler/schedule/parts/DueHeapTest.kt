package baton.scheduler.schedule.parts

import baton.Priority
import baton.scheduler.schedule.DueHeap
import baton.scheduler.schedule.Times
import java.lang.management.ManagementFactory
import java.util.TreeMap
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Order of the heap, against a sorted map; and the memory of its operations. */
class DueHeapTest {
    private data class Place(val due: Long, val priority: Priority, val sequence: Int) : Comparable<Place> {
        override fun compareTo(other: Place) =
            compareValuesBy(this, other, { it.due }, { it.priority }, { it.sequence })
    }

    /** The same operations on a [TreeMap]. */
    private class Model {
        val order = TreeMap<Place, Int>()
        val places = HashMap<Int, Place>()
        private var sequence = 0

        fun set(slot: Int, due: Long, priority: Priority) {
            val place = Place(due, priority, places[slot]?.sequence ?: sequence++)
            remove(slot)
            places[slot] = place
            order[place] = slot
        }

        fun remove(slot: Int) {
            places.remove(slot)?.let(order::remove)
        }
    }

    private val heap = DueHeap()

    @ParameterizedTest
    @ValueSource(ints = [1, 2, 3, 4, 5, 6, 7, 8])
    fun operations_random_leaveTheOrderOfASortedMap(number: Int) {
        val random = Random(number)
        val model = Model()
        repeat(20_000) {
            val slot = random.nextInt(1, 60 * number)
            when (random.nextInt(4)) {
                0 -> {
                    heap.remove(slot)
                    model.remove(slot)
                }
                1 ->
                    model.order.firstEntry()?.let { (place, first) ->
                        // A fire: the first entry gets its next due time.
                        heap.set(first, place.due + 7, place.priority)
                        model.set(first, place.due + 7, place.priority)
                    }
                else -> {
                    val due = random.nextLong(-50, 50)
                    val priority = Priority.entries.random(random)
                    heap.set(slot, due, priority)
                    model.set(slot, due, priority)
                }
            }
            assertEquals(model.order.size, heap.size)
            assertEquals(model.order.firstEntry()?.value ?: -1, heap.firstSlot)
            assertEquals(model.order.firstEntry()?.key?.due ?: Times.NEVER, heap.firstDue)
            assertEquals(model.places[slot]?.due ?: Times.NEVER, heap.dueOf(slot))
            assertEquals(slot in model.places, slot in heap)
        }
        for (slot in model.order.values.toList()) {
            assertEquals(slot, heap.firstSlot)
            heap.remove(slot)
        }
        assertEquals(0, heap.size)
    }

    @Test
    fun dueTimes_atTheirBounds_areExact() {
        heap.set(0, Times.LATEST, Priority.IDLE)
        heap.set(1, Times.EARLIEST, Priority.CRITICAL)
        heap.set(2, 0, Priority.NORMAL)
        assertEquals(listOf(Times.LATEST, Times.EARLIEST, 0L), List(3) { heap.dueOf(it) })
        assertEquals(1, heap.firstSlot)
    }

    @Test
    fun slots_unknown_areNotInTheHeap() {
        assertFalse(1_000_000 in heap)
        heap.remove(1_000_000)
        assertEquals(-1 to Times.NEVER, heap.firstSlot to heap.firstDue)
    }

    @Test
    fun fireAndEdit_allocateNothing() {
        val entries = 10_000
        for (slot in 0 until entries) heap.set(slot, slot * 17L % entries, Priority.NORMAL)
        fun fireAndEdit() =
            repeat(100_000) {
                val first = heap.firstSlot
                heap.set(first, heap.firstDue + entries, Priority.NORMAL)
                val other = it % entries
                heap.remove(other)
                heap.set(other, heap.firstDue + 5, Priority.HIGH)
            }
        fireAndEdit()
        val threads = ManagementFactory.getThreadMXBean() as com.sun.management.ThreadMXBean
        val before = threads.currentThreadAllocatedBytes
        fireAndEdit()
        val allocated = threads.currentThreadAllocatedBytes - before
        assertTrue(allocated < 100_000, "$allocated bytes in 200,000 operations")
    }
}
