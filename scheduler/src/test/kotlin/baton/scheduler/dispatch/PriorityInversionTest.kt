package baton.scheduler.dispatch

import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/**
 * LOW holds a lock for which CRITICAL waits, while HIGH has endless work: counts the picks until CRITICAL has the lock.
 */
@Tag("jdk")
internal class PriorityInversionTest : BoostingFixture() {
    /**
     * LOW holds the lock and needs six resumptions, HIGH has endless work, and CRITICAL requests the lock.
     *
     * @return the number of picks of HIGH from the request until CRITICAL has the lock.
     */
    private fun TestScope.inversion(hold: Held, want: Held, needs: suspend () -> Unit = { times(6) }): Int {
        var picks = 0
        var asked = 0
        var got = NEVER
        launch(prioritized + LOW) {
            hold {
                this@inversion.launch(prioritized + HIGH) {
                    while (got == NEVER && picks < NEVER) {
                        if (++picks == 10) {
                            this@inversion.launch(prioritized + CRITICAL) {
                                asked = picks
                                want { got = picks }
                            }
                        }
                        yield()
                    }
                }
                needs()
            }
        }
        runQueued()
        return got - asked
    }

    @ParameterizedTest
    @EnumSource
    fun waiter_urgent_anyPolicy_waitsForTheHolderAndItsChildrenAlone(kind: Kind) {
        val children = suspend {
            coroutineScope {
                launch { times(3) }
                launch(IDLE) { times(3) }
            }
            withContext(IDLE) { times(3) }
        }
        for (policy in listOf(PriorityPolicy.Strict, PriorityPolicy.Bounded())) {
            for (needs in listOf(suspend { times(6) }, children)) {
                boosting(policy) {
                    val lock = kind.make()
                    assertEquals(0, inversion(lock.hold, lock.want, needs))
                }
            }
        }
    }

    @Test
    fun holder_unknown_bounded_eachResumptionWaitsForItsLevelsBound() =
        boosting(PriorityPolicy.Bounded()) {
            val mutex = Mutex()
            val hold: Held = {
                assertTrue(mutex.tryLock())
                it()
                mutex.unlock()
            }
            // Ten of the first 256 picks came before the request, and one is that of CRITICAL itself.
            assertEquals(6 * 256 - 11, inversion(hold, { mutex.withLock { it() } }))
        }

    /** Ways to hold a lock of which the lock does not know its holder, or has several. */
    @ParameterizedTest
    @EnumSource
    fun holder_unknown_isNotBoosted(unknown: Unknown) = boosting {
        val lock = unknown.make()
        assertTrue(inversion(lock.hold, lock.want) > 9_000)
    }

    enum class Unknown(val make: () -> BoostedLock) {
        MUTEX_BY_TRY({
            val mutex = Mutex()
            BoostedLock({ held(mutex.tryLock(), it, mutex::unlock) }, { mutex.withLock { it() } })
        }),
        SEMAPHORE_BY_TRY({
            val semaphore = Semaphore(1)
            BoostedLock({ held(semaphore.tryAcquire(), it, semaphore::release) }, { semaphore.withPermit { it() } })
        }),
        ONE_PERMIT_OF_TWO({
            val semaphore = Semaphore(2, acquired = 1)
            BoostedLock({ semaphore.withPermit { it() } })
        }),
        READER_WITHOUT_A_NAME({
            val lock = ReadWriteLock()
            BoostedLock(
                hold = {
                    lock.lockRead()
                    held(true, it, lock::unlockRead)
                },
                want = {
                    lock.lockWrite()
                    held(true, it, lock::unlockWrite)
                },
            )
        }),
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = ["SEMAPHORE_IN_TIME"]) // in priority order
    fun holder_locksBeforeAMoreUrgentWaiter_isBoostedOnceItHolds(kind: Kind) = boosting {
        val lock = kind.make()
        var picks = 0
        var free = NEVER
        var got = NEVER
        val gate = CompletableDeferred<Unit>()
        launch {
            lock.want {
                gate.await()
                free = picks
            }
        }
        runQueued()
        launch(prioritized + LOW) {
            lock.hold {
                got = picks
                times(6)
            }
        }
        runQueued()
        val urgent = launch(prioritized + CRITICAL) { lock.want {} }
        launch(prioritized + HIGH) {
            while (urgent.isActive && picks < NEVER) {
                if (++picks == 10) gate.complete(Unit)
                yield()
            }
        }
        urgent.join()
        assertEquals(free, got)
        assertEquals(free, picks)
    }

    private companion object {
        const val NEVER = 10_000

        suspend fun held(locked: Boolean, block: suspend () -> Unit, unlock: () -> Unit) {
            check(locked)
            block()
            unlock()
        }
    }
}
