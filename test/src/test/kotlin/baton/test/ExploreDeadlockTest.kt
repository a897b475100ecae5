package baton.test

import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test

/** In a JVM in which locks note their holders. */
class ExploreDeadlockTest {
    @Test
    fun report_namesHolders_andWhereTheyLocked() {
        assumeTrue(java.lang.Boolean.getBoolean("baton.deadlocks"))
        val failure =
            assertThrows(AssertionError::class.java) {
                explore(seed = 1) {
                    val x = Mutex(name = "x")
                    val y = Semaphore(1, name = "y")
                    launch(CoroutineName("a")) { x.withLock { y.withPermit {} } }
                    launch(CoroutineName("b")) { y.withPermit { x.withLock {} } }
                }
            }
        val report = failure.message!!.substringAfter("Then nothing can go on:\n").lines().drop(3)
        assertEquals(
            listOf(
                "  a cycle of 2:",
                "    coroutine 'a' waits for Semaphore 'y', held by coroutine 'b', taken at (L)",
                "    coroutine 'b' waits for Mutex 'x', held by coroutine 'a', taken at (L)",
            ),
            report.map { it.replace(Regex("\\(ExploreDeadlockTest.kt:\\d+\\)"), "(L)") },
        )
    }
}
