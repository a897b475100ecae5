package baton.test.contracts

import baton.sync.Mutexes
import baton.tasks.SingleFlight
import baton.tasks.suspendingLazy
import baton.test.explore
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Objects by key and shared runs, in any order; most orders cancel one of the callers. */
class ExploredKeysTest {
    @Test
    fun callersOfAFlight_getItsResult_andLeaveNothing() =
        explore(RUNS, SEED, cancels = true) {
            val flight = SingleFlight<String, Int>()
            var loads = 0
            repeat(3) { i ->
                launch(CoroutineName("caller $i")) {
                    val result =
                        flight.run("a") {
                            loads++
                            yield()
                            yield()
                            7
                        }
                    assertEquals(7, result)
                }
            }
            launch(CoroutineName("forgetful")) { flight.forget("a") }
            afterwards {
                assertEquals(0, flight.size)
                assertTrue(loads in 1..3)
            }
        }

    @Test
    fun lazyValue_isLoadedOnce_unlessTheOnlyCallerIsCancelled() =
        explore(RUNS, SEED, cancels = true) {
            var begun = 0
            var loaded = 0
            val config = suspendingLazy {
                begun++
                yield()
                ++loaded
            }
            repeat(3) { i -> launch(CoroutineName("caller $i")) { assertEquals(1, config.get()) } }
            afterwards {
                assertTrue(loaded <= 1)
                assertTrue(begun in 1..2)
            }
        }

    @Test
    fun locksOfSeveralKeys_inAnyOrder_excludeAndNeverDeadlock() =
        explore(RUNS, SEED, cancels = true) {
            val locks = Mutexes<Int>()
            var inside = 0
            for (keys in listOf(listOf(1, 2), listOf(2, 1), listOf(2, 1, 2))) {
                launch(CoroutineName("$keys")) {
                    locks.withLocks(keys) {
                        assertEquals(0, inside++)
                        try {
                            yield()
                        } finally {
                            inside--
                        }
                    }
                }
            }
            launch(CoroutineName("single")) { locks.withLock(1) { assertEquals(0, inside) } }
            afterwards { assertEquals(0, locks.size) }
        }
}
