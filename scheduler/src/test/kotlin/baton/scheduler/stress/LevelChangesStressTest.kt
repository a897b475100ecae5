package baton.scheduler.stress

import baton.Priority
import baton.PriorityController
import baton.scheduler.PriorityDispatcher
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.random.Random
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** Levels change while workers pick the blocks that move: of a dispatcher, of its views, and of a view of a view. */
open class LevelChangesStressTest {
    internal open val rounds
        get() = 40

    private val violations = AtomicInteger()

    @Test
    fun blocks_moveWhileTheyArePicked_runOnceEach_andNoBoundIsExceeded() {
        repeat(rounds) { seed ->
            val random = Random(seed)
            val policy = if (seed % 2 == 0) PriorityPolicy.Strict else PriorityPolicy.Bounded()
            val prioritized = Dispatchers.Default.prioritized(2, policy = policy, quantum = random.nextInt(1, 20))
            val controllers = List(4) { PriorityController(random.nextLevel()) }
            val steps = whileLevelsChange(controllers, seed) { runAll(prioritized, controllers, random) }
            assertEquals(COROUTINES * STEPS, steps, "seed $seed")
            assertEquals(0, violations.get(), "seed $seed")
        }
    }

    private fun <T> whileLevelsChange(controllers: List<PriorityController>, seed: Int, action: () -> T): T {
        val isOver = AtomicBoolean()
        val changers =
            List(2) {
                thread {
                    val random = Random(seed + it)
                    while (!isOver.get()) controllers.random(random).level = random.nextLevel()
                }
            }
        try {
            return action()
        } finally {
            isOver.set(true)
            changers.forEach(Thread::join)
        }
    }

    /** Returns how many steps the coroutines have made. */
    private fun runAll(root: PriorityDispatcher, controllers: List<PriorityController>, random: Random): Int {
        val pair = root.limitedParallelism(2, "pair")
        val doors = listOf(root, root.limitedParallelism(1), pair, pair.limitedParallelism(1)).map(::Door)
        val steps = AtomicInteger()
        // Of no scope that would wait for a coroutine whose block is lost.
        val scope = CoroutineScope(Job())
        val all =
            List(COROUTINES) {
                val door = doors[it % doors.size]
                val level = if (random.nextInt(3) == 0) random.nextLevel() else controllers.random(random)
                scope.launch(door.dispatcher + level) { repeat(STEPS) { door.pass { steps.incrementAndGet() } } }
            }
        runBlocking { withTimeoutOrNull(2.minutes) { all.joinAll() } }
        return steps.get()
    }

    private inner class Door(val dispatcher: PriorityDispatcher) {
        private val inside = AtomicInteger()

        suspend fun pass(step: () -> Unit) {
            if (inside.incrementAndGet() > dispatcher.parallelism) violations.incrementAndGet()
            step()
            inside.decrementAndGet()
            yield()
        }
    }

    private fun Random.nextLevel() = Priority.entries.random(this)

    private companion object {
        const val COROUTINES = 150
        const val STEPS = 60
    }
}

class LevelChangesStressDeepTest : LevelChangesStressTest() {
    override val rounds
        get() = 4000
}
