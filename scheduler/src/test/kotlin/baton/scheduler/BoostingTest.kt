package baton.scheduler

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.sync.Mutex
import baton.sync.withLock
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.CsvSource
import org.junit.jupiter.params.provider.EnumSource

/** Who holds a lock that somebody more urgent waits for is lifted, whatever the lock, and for just as long. */
class BoostingTest {
    private lateinit var prioritized: PriorityDispatcher
    private var floods = false

    private fun boosting(policy: PriorityPolicy = PriorityPolicy.Strict, block: suspend TestScope.() -> Unit) = runTest {
        prioritized = StandardTestDispatcher(testScheduler).prioritized(1, "test", policy)
        block()
        testScheduler.advanceUntilIdle()
        assertTrue((prioritized as Door).lifts.isEmpty)
    }

    /**
     * LOW holds the lock and needs six resumptions, HIGH has work without end, and CRITICAL comes to want the lock.
     *
     * @return how many picks of HIGH that takes, until CRITICAL has it.
     */
    private suspend fun TestScope.inversion(
        hold: suspend (suspend () -> Unit) -> Unit,
        want: suspend (suspend () -> Unit) -> Unit,
        needs: suspend () -> Unit = { repeat(6) { yield() } },
    ): Int {
        var picks = 0
        var asked = 0
        var got = -1
        launch(prioritized + LOW) {
            hold {
                this@inversion.launch(prioritized + HIGH) {
                    while (got < 0 && picks < NEVER) {
                        if (picks++ == 10) {
                            this@inversion.launch(prioritized + CRITICAL) {
                                asked = picks
                                want { got = picks }
                            }
                        }
                        yield()
                    }
                    if (got < 0) got = NEVER
                }
                yield()
                needs()
            }
        }
        testScheduler.advanceUntilIdle()
        return got - asked
    }

    @ParameterizedTest
    @EnumSource
    fun `urgent waiter waits for its holder and for nobody else, strictly`(lock: Lock) = boosting {
        assertEquals(0, inversion(lock::hold, lock::want))
    }

    @ParameterizedTest
    @EnumSource
    fun `urgent waiter waits for its holder and for nobody else, with bounds`(lock: Lock) =
        boosting(PriorityPolicy.Bounded()) {
            assertEquals(0, inversion(lock::hold, lock::want))
        }

    @ParameterizedTest
    @EnumSource
    fun `what the holder has inside is lifted with it`(lock: Lock) = boosting {
        val needs =
            suspend {
                coroutineScope {
                    launch { repeat(3) { yield() } }
                    launch(IDLE) { repeat(3) { yield() } }
                }
                withContext(IDLE) { repeat(3) { yield() } }
            }
        assertEquals(0, inversion(lock::hold, lock::want, needs))
    }

    private companion object {
        const val NEVER = 10_000
    }
}
