package baton.scheduler.dispatch

import com.sun.management.ThreadMXBean
import java.lang.management.ManagementFactory
import java.lang.reflect.Modifier
import java.util.IdentityHashMap
import kotlin.random.Random
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** The order and the memory of a level's queue, from which blocks are taken at its head and out of its middle. */
@Tag("jdk")
class LevelQueueTest {
    private class Block : Runnable {
        override fun run() = error("not called")
    }

    private val queue = LevelQueue()

    private fun add(n: Int): List<Block> = List(n) { Block() }.onEach(queue::add)

    /** How many arrays the queue holds. */
    private fun segments(): Int {
        val seen = IdentityHashMap<Any, Unit>()
        val toVisit = ArrayList<Any>(listOf(queue))
        while (toVisit.isNotEmpty()) {
            val visited = toVisit.removeAt(toVisit.lastIndex)
            if (visited is Block || seen.put(visited, Unit) != null) continue
            if (visited is Array<*>) {
                toVisit.addAll(visited.filterNotNull())
                continue
            }
            for (field in visited.javaClass.declaredFields) {
                if (field.type.isPrimitive || Modifier.isStatic(field.modifiers)) continue
                field.isAccessible = true
                toVisit.add(field.get(visited) ?: continue)
            }
        }
        return seen.keys.count { it is Array<*> }
    }

    @ParameterizedTest
    @ValueSource(ints = [0, 1, 40])
    fun addAndRemove_manyTimes_behindBlocksThatStay_allocateNothing(stay: Int) {
        val staying = add(stay)
        val block = Block()
        val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean
        val before = threads.currentThreadAllocatedBytes
        repeat(100_000) {
            queue.add(block)
            queue.remove(block)
        }
        val allocated = threads.currentThreadAllocatedBytes - before
        assertTrue(allocated < 100_000) { "$allocated bytes" }
        assertTrue(segments() <= stay / 20 + 2) { "${segments()} segments" }
        for (expected in staying) assertSame(expected, queue.poll())
        assertEquals(0, queue.size)
    }

    @Test
    fun remove_allBetweenTwoBlocks_leavesTheirSegments_inEachOrder() {
        for (order in listOf<(List<Block>) -> List<Block>>({ it }, { it.reversed() }, { it.shuffled(Random(1)) })) {
            val blocks = add(1000)
            val between = blocks.subList(1, blocks.lastIndex)
            for (block in order(between)) assertTrue(queue.remove(block))
            assertTrue(segments() <= 2) { "${segments()} segments" }
            assertFalse(queue.remove(between.first()))
            assertSame(blocks.first(), queue.poll())
            assertSame(blocks.last(), queue.poll())
        }
    }

    @Test
    fun addRemoveAndPoll_atRandom_keepTheOrder() {
        val random = Random(7)
        repeat(50) {
            val model = ArrayDeque<Block>()
            val most = listOf(1, 5, 200).random(random)
            repeat(5_000) {
                when {
                    model.isEmpty() || (model.size < most && random.nextInt(5) < 3) -> model += add(1)
                    random.nextBoolean() -> assertSame(model.removeFirst(), queue.poll())
                    else -> {
                        val removed = model.removeAt(random.nextInt(model.size))
                        assertTrue(queue.remove(removed))
                        assertFalse(queue.remove(removed))
                    }
                }
                assertEquals(model.size, queue.size)
            }
            val seen = ArrayList<Runnable>()
            queue.any { !seen.add(it) }
            assertEquals(model.toList(), seen)
            while (model.isNotEmpty()) assertSame(model.removeFirst(), queue.poll())
        }
        assertTrue(segments() <= 2) { "${segments()} segments" }
    }
}
