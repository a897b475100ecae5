package baton.channels

import baton.Priority
import baton.channels.core.FifoElements
import baton.channels.core.PriorityElements
import baton.channels.core.UndeliveredElements
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class ElementsTest {
    @Test
    fun fifo_randomAddsAndRemoves_isAQueue() {
        for (seed in 0 until 200) {
            val random = Random(seed)
            val elements = FifoElements()
            val queue = ArrayDeque<Int>()
            repeat(400) { i ->
                if (random.nextInt(100) < 40 + seed % 20) {
                    elements.add(i, 0)
                    queue.addLast(i)
                } else if (queue.isNotEmpty()) {
                    val next = if (random.nextBoolean()) elements.removeFirst() else elements.removeOldest()
                    assertEquals(queue.removeFirst(), next)
                }
                assertEquals(queue.size, elements.size)
            }
            while (queue.isNotEmpty()) assertEquals(queue.removeFirst(), elements.removeFirst())
        }
    }

    @Test
    fun priority_levelRunsEmptyBecauseItsLastIsDropped_itsPassesAreForgotten() {
        val elements = PriorityElements()
        fun add(level: Priority) = elements.add(level, level.ordinal)
        repeat(200) { add(Priority.CRITICAL) }
        add(Priority.HIGH)
        repeat(60) { assertEquals(Priority.CRITICAL, elements.removeFirst()) }
        assertEquals(Priority.HIGH, elements.removeOldest())
        add(Priority.HIGH)
        val received = List(elements.size) { elements.removeFirst() }
        assertEquals(64, received.indexOf(Priority.HIGH))
    }

    @Test
    fun returned_numbersWrapAround_keepTheirOrder() {
        val numbers = listOf(Int.MAX_VALUE - 1, Int.MAX_VALUE, Int.MIN_VALUE, Int.MIN_VALUE + 1)
        for (seed in 0..23) {
            val returned = UndeliveredElements()
            for (number in numbers.shuffled(Random(seed))) returned.add("$number", number)
            for (number in numbers) {
                assertEquals(number, returned.firstNumber())
                assertEquals("$number", returned.removeFirst())
            }
        }
    }
}
