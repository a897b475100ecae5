package baton.test.contracts

import baton.Priority
import baton.parallel.mapLimit
import baton.scheduler.TaskScheduler
import baton.tasks.cancellableTask
import baton.test.explore
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Tasks and maps, in any order. */
class ExploredTasksTest {
    @Test
    fun cancellableTask_cancelledAtAnyPoint_tearsDownOnceAndInReverse() =
        explore(RUNS, SEED) {
            val registered = mutableListOf<Int>()
            val tornDown = mutableListOf<Int>()
            var children = 0
            val task =
                cancellableTask(CoroutineName("task")) {
                    for (n in 1..2) {
                        onTeardown {
                            assertEquals(0, children)
                            yield()
                            tornDown += n
                        }
                        registered += n
                        yield()
                    }
                    launch(CoroutineName("child")) {
                        children++
                        try {
                            yield()
                        } finally {
                            children--
                        }
                    }
                    "value"
                }
            val next = task.then { it.length }
            launch(CoroutineName("canceller")) {
                yield()
                next.cancel()
            }
            afterwards {
                assertEquals(if (task.isCancelled) registered.reversed() else emptyList(), tornDown)
                if (task.isCancelled) assertTrue(next.isCancelled)
            }
        }

    @Test
    fun taskScheduler_tasksCancelledMeanwhile_keepsItsBoundAndEndsIdle() =
        explore(RUNS, SEED, cancels = true) {
            val scheduler = TaskScheduler(this, maxConcurrency = 2)
            var running = 0
            var ended = 0
            val tasks =
                Priority.entries.take(4).map { level ->
                    scheduler.schedule(level, context = CoroutineName("$level")) {
                        assertTrue(++running <= 2)
                        try {
                            yield()
                            ended++
                        } finally {
                            running--
                        }
                    }
                }
            launch(CoroutineName("canceller")) {
                yield()
                tasks[2].cancel()
            }
            tasks.forEach { it.join() }
            afterwards {
                assertEquals(tasks.count { !it.isCancelled }, ended)
                assertEquals(0, scheduler.usage().inUse)
                assertEquals(0, scheduler.usage().waiting)
            }
        }

    @Test
    fun taskScheduler_drainedMeanwhile_endsAfterItsTasks() =
        explore(RUNS, SEED, cancels = true) {
            val scheduler = TaskScheduler(this, maxConcurrency = 1)
            val tasks = List(3) { scheduler.schedule(context = CoroutineName("task $it")) { yield() } }
            launch(CoroutineName("drain")) {
                scheduler.drain()
                assertTrue(tasks.all { it.isCompleted })
            }
        }

    @Test
    fun mapLimit_anyOrder_keepsItsLimitAndTheOrderOfTheResults() =
        explore(RUNS, SEED) {
            var running = 0

            suspend fun double(n: Int): Int {
                assertTrue(++running <= 2)
                repeat(n % 3) { yield() }
                running--
                return 2 * n
            }
            val doubled = (1..5).map { 2 * it }
            assertEquals(doubled, (1..5).mapLimit(2) { double(it) })
            assertEquals(doubled, (1..5).asFlow().mapLimit(2) { double(it) }.toList())
        }

    @Test
    fun mapLimit_anyOneCancelled_leavesNothingRunning() =
        explore(RUNS, SEED, cancels = true) {
            var running = 0
            val mapping =
                launch(CoroutineName("map")) {
                    (1..4).mapLimit(2) {
                        running++
                        try {
                            yield()
                        } finally {
                            running--
                        }
                    }
                }
            mapping.join()
            assertEquals(0, running)
        }
}
