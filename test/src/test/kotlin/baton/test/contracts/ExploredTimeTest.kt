package baton.test.contracts

import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import baton.test.explore
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Objects that measure time, in any order, in the time of the exploration. */
class ExploredTimeTest {
    @Test
    fun schedule_editedWhenItFires_keepsItsBoundAndItsTimes() =
        explore(RUNS, SEED) {
            val runs = mutableListOf<String>()
            var running = 0
            val schedule =
                Schedule<String>(maxConcurrency = 1) { due ->
                    assertEquals(1, ++running)
                    yield()
                    running--
                    runs += due.key
                }
            launch(CoroutineName("schedule")) { schedule.run() }
            delay(1.seconds) // Then it runs.
            schedule.put("a", Trigger.fixedDelay(10.seconds))
            schedule.put("b", Trigger.fixedDelay(10.seconds))
            launch(CoroutineName("editor")) {
                delay(20.seconds)
                assertTrue(schedule.remove("a"))
            }
            delay(35.seconds)
            schedule.shutdown()
            assertEquals(3, runs.count { it == "b" })
            assertTrue(runs.count { it == "a" } in 1..2)
        }

    @Test
    fun rateLimiter_anyOneCancelled_admitsAsManyAsThePeriodAllows() =
        explore(RUNS, SEED, cancels = true) {
            val limiter = RateLimiter.of(Rate(1, 1.seconds), Rate(4, 4.seconds), burst = 1)
            var admitted = 0
            val callers =
                List(3) {
                    launch(CoroutineName("caller $it")) {
                        limiter.acquire()
                        admitted++
                    }
                }
            delay(1.seconds / 2)
            assertTrue(admitted <= 1)
            delay(1.seconds)
            assertTrue(admitted <= 2)
            afterwards { assertTrue(admitted >= callers.count { !it.isCancelled }) }
        }
}
