package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.PriorityController
import baton.PriorityElement
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import java.lang.management.ManagementFactory
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Blocks in long queues whose level changes, while other blocks come and go. */
@Tag("jdk")
class MovedBlocksTest {
    /** Runs a worker where the test says so. */
    private val workers = ArrayDeque<Runnable>()

    private val underlying =
        object : CoroutineDispatcher() {
            override fun dispatch(context: CoroutineContext, block: Runnable) {
                workers += block
            }
        }

    private val prioritized = underlying.prioritized(1, policy = PriorityPolicy.Strict, quantum = 1)
    private val ran = ArrayList<Block>()

    /** Called when a move looks at a block, so that the test can do something in the middle of one. */
    private var onLook = {}

    private inner class Block(controller: CoroutineContext) : Runnable, Continuation<Unit> {
        private val of = prioritized + controller
        override val context: CoroutineContext
            get() = of.also { onLook() }

        override fun resumeWith(result: Result<Unit>) = error("not called")

        override fun run() {
            ran += this
        }
    }

    private fun dispatch(level: CoroutineContext): Block =
        Block(level).also { prioritized.dispatch(prioritized + level, it) }

    /** Runs one block. */
    private fun runOne() = workers.removeFirst().run()

    private fun runAll() {
        while (workers.isNotEmpty()) runOne()
    }

    private fun queued(level: Priority) = prioritized.metrics[level].queued

    @Test
    fun controller_raised_movesEachSecondOfManyBlocks_inTheirOrder() {
        val controller = PriorityController(LOW)
        val blocks = List(1000) { dispatch(if (it % 2 == 0) LOW else controller) }
        controller.level = CRITICAL
        assertEquals(listOf(500, 500), listOf(queued(CRITICAL), queued(LOW)))
        runAll()
        assertEquals(blocks.filterIndexed { i, _ -> i % 2 == 1 } + blocks.filterIndexed { i, _ -> i % 2 == 0 }, ran)
    }

    @Test
    fun controller_changesAgainWhileBlocksMove_allAreAtTheLastLevel() {
        val controller = PriorityController(LOW)
        val others = List(100) { dispatch(LOW) }
        val blocks = List(300) { dispatch(controller) }
        var looks = 0
        onLook = { if (++looks == 250) controller.level = HIGH }
        controller.level = CRITICAL
        onLook = {}
        assertEquals(listOf(0, 300, 100), listOf(queued(CRITICAL), queued(HIGH), queued(LOW)))
        runAll()
        assertEquals(blocks.toSet(), ran.take(300).toSet())
        assertEquals(others, ran.drop(300))
    }

    @Test
    fun blocks_runAndAddedWhileOthersMove_runOnce_inTheirOrder() {
        for (seed in 1..200) {
            val random = Random(seed)
            val controller = PriorityController(LOW)
            val other = PriorityController(LOW)
            ran.clear()
            val all = ArrayList<Block>()
            repeat(random.nextInt(1, 400)) { all += dispatch(listOf(LOW, controller, other).random(random)) }
            val queuedBefore = all.toSet()
            val interval = random.nextInt(1, 50)
            var isInside = false
            onLook = {
                if (!isInside && random.nextInt(interval) == 0) {
                    isInside = true
                    when (random.nextInt(4)) {
                        0 -> repeat(random.nextInt(60)) { if (workers.isNotEmpty()) runOne() }
                        1 -> all += dispatch(controller)
                        2 -> all += dispatch(LOW)
                        else -> other.level = listOf(LOW, HIGH, IDLE).random(random)
                    }
                    isInside = false
                }
            }
            controller.level = HIGH
            onLook = {}
            val ranBefore = ran.toSet()
            // A block of the controller that had no worker yet is at its level now.
            val left = all.filter { it !in ranBefore && it.context[PriorityElement] === controller }
            assertTrue(queued(HIGH) >= left.size) { "seed $seed" }
            runAll()
            assertEquals(all.size, ran.size) { "seed $seed" }
            assertEquals(all.toSet(), ran.toSet()) { "seed $seed" }
            val plain = ran.filter { it.context[PriorityElement] === LOW }
            assertEquals(plain.sortedBy(all::indexOf), plain) { "seed $seed" }
            // A block that is dispatched during the move may overtake those that are about to move.
            val moved = ran.filter { it in queuedBefore && it.context[PriorityElement] === controller }
            assertEquals(moved.sortedBy(all::indexOf), moved) { "seed $seed" }
        }
    }

    /** A search for each block that moves took a minute. */
    @Test
    fun move_ofHalfOfALongQueue_takesTimeInProportionToItsLength() {
        val controller = PriorityController(LOW)
        repeat(160_000) { dispatch(if (it % 2 == 0) LOW else controller) }
        val threads = ManagementFactory.getThreadMXBean()
        val begin = threads.currentThreadCpuTime
        controller.level = CRITICAL
        val nanos = threads.currentThreadCpuTime - begin
        assertEquals(80_000, queued(CRITICAL))
        assertTrue(nanos < 3_000_000_000) { "$nanos ns" }
    }
}
