package baton.test

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The parts of kotlinx.coroutines that `explore` uses: its Delay, the frames of continuations, and scoped blocks. */
class ExploreKotlinxProbe {
    @Test
    fun delaysAndTimeouts_areVirtual_inAnyOrder() {
        val orders = HashSet<String>()
        explore {
            val order = StringBuilder()
            for (name in listOf("a", "b")) {
                launch {
                    delay(1.hours)
                    order.append(name)
                }
            }
            assertFalse(Semaphore(1, acquired = 1).tryAcquire(timeout = 2.hours))
            afterwards { orders += order.toString() }
        }
        assertEquals(setOf("ab", "ba"), orders)
    }

    @Test
    fun story_namesCoroutines_andTheLinesOfCallsAndSuspensions() {
        val failure =
            assertThrows(AssertionError::class.java) {
                explore(seed = 1) {
                    val x = Mutex(name = "x")
                    val y = Mutex(name = "y")
                    launch(CoroutineName("a")) { coroutineScope { x.withLock { y.withLock {} } } }
                    launch(CoroutineName("b")) {
                        yield()
                        y.withLock { x.withLock {} }
                    }
                }
            }
        val story = failure.message!!
        val end = story.indexOf("Then nothing can go on:")
        assertTrue(end > 0, story)
        assertTrue(
            Regex("a calls lock of Mutex 'y' at \\(ExploreKotlinxProbe.kt:\\d\\d\\)").containsMatchIn(story),
            story,
        )
        assertTrue(Regex("b goes on at \\(ExploreKotlinxProbe.kt:\\d\\d\\)").containsMatchIn(story), story)
        assertTrue(Regex("a waits for lock of Mutex 'y' .* at \\(Explore").find(story, end) != null, story)
    }

    @Test
    fun cancellation_endsOneCoroutine() {
        var cancelled = 0
        explore(cancels = true, seed = 1) {
            val jobs = List(3) { launch { yield() } }
            afterwards { cancelled += jobs.count { it.isCancelled } }
        }
        assertTrue(cancelled > 0)
    }

    @Test
    fun otherDispatcher_isNamed() {
        val mistake =
            assertThrows(IllegalStateException::class.java) { explore { withContext(Dispatchers.Default) {} } }
        assertTrue(mistake.message!!.contains("runs on Dispatchers.Default"), mistake.message)
    }
}
