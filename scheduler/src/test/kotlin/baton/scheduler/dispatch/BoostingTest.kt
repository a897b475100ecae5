package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.CRITICAL
import baton.Priority.HIGH
import baton.Priority.IDLE
import baton.Priority.LOW
import baton.Priority.NORMAL
import baton.scheduler.prioritized
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The holder of a lock is boosted exactly while a more urgent coroutine waits for the lock, whatever the lock. */
@Tag("jdk")
internal class BoostingTest : BoostingFixture() {
    /** Holds it at LOW until it is released. */
    private inner class Holder(test: TestScope, hold: Held) {
        private val gate = CompletableDeferred<Unit>()
        lateinit var context: CoroutineContext
        val level: Priority
            get() = prioritized.levelOf(context)

        init {
            test.launch(prioritized + LOW) {
                hold {
                    context = coroutineContext
                    gate.await()
                }
            }
            test.runQueued()
        }

        fun release() {
            gate.complete(Unit)
        }
    }

    private fun TestScope.waiter(level: Priority, want: Held): Job =
        launch(prioritized + level) { want {} }.also { runQueued() }

    @ParameterizedTest
    @EnumSource
    fun level_ofAHolder_isThatOfTheMostUrgentWaiter_withoutWaitersItsOwn(kind: Kind) = boosting {
        val lock = kind.make()
        val holder = Holder(this, lock.hold)
        assertEquals(LOW, holder.level)
        val high = waiter(HIGH, lock.want)
        assertEquals(HIGH, holder.level)
        val idle = waiter(IDLE, lock.want)
        val critical = waiter(CRITICAL, lock.want)
        val another = waiter(CRITICAL, lock.want)
        assertEquals(CRITICAL, holder.level)
        critical.cancel()
        assertEquals(CRITICAL, holder.level)
        another.cancel()
        assertEquals(HIGH, holder.level)
        high.cancel()
        assertEquals(LOW, holder.level)
        waiter(NORMAL, lock.want)
        assertEquals(NORMAL, holder.level)
        holder.release()
        runQueued()
        assertEquals(LOW, holder.level)
        assertTrue(idle.isCompleted)
    }

    @Test
    fun waiter_timesOut_boostEnds() = boosting {
        val mutex = Mutex()
        val semaphore = Semaphore(1)
        val lock = ReadWriteLock()
        val hold: Held = { mutex.withLock { semaphore.withPermit { lock.withRead { it() } } } }
        val holder = Holder(this, hold)
        val waits =
            listOf<suspend () -> Boolean>(
                { mutex.tryLock(1.seconds) },
                { semaphore.tryAcquire(timeout = 1.seconds) },
                { lock.tryLockWrite(1.seconds) },
                { withTimeoutOrNull(1.seconds) { mutex.lock() } != null },
            )
        for (wait in waits) {
            val waiter = launch(prioritized + CRITICAL) { assertFalse(wait()) }
            runQueued()
            assertEquals(CRITICAL, holder.level)
            waiter.join()
            assertEquals(LOW, holder.level)
        }
        holder.release()
    }

    @Test
    fun holder_ofTwoLocks_releasesOne_keepsTheBoostOfTheOther() = boosting {
        val first = Mutex()
        val second = Mutex()
        val gate = CompletableDeferred<Unit>()
        val levels = ArrayList<Priority>()
        val holder =
            launch(prioritized + IDLE) {
                first.lock()
                second.lock()
                gate.await()
                levels += prioritized.levelOf(coroutineContext)
                first.unlock()
                levels += prioritized.levelOf(coroutineContext)
                second.unlock()
                levels += prioritized.levelOf(coroutineContext)
            }
        runQueued()
        waiter(CRITICAL) { first.withLock { it() } }
        waiter(HIGH) { second.withLock { it() } }
        gate.complete(Unit)
        holder.join()
        assertEquals(listOf(CRITICAL, HIGH, IDLE), levels)
    }

    @Test
    fun holder_boostedBeforeItWaitsForASecondLock_boostsThatLocksHolder() = boosting {
        val first = Mutex()
        val second = Mutex()
        val last = Holder(this) { second.withLock { it() } }
        val gate = CompletableDeferred<Unit>()
        launch(prioritized + LOW) {
            first.withLock {
                gate.await()
                second.withLock {}
            }
        }
        runQueued()
        waiter(CRITICAL) { first.withLock { it() } }
        assertEquals(LOW, last.level)
        gate.complete(Unit)
        runQueued()
        assertEquals(CRITICAL, last.level)
        last.release()
    }

    @Test
    fun waiter_onAnotherDispatcher_boostsByTheLevelInItsContext_withoutOneNotAtAll() = boosting {
        val mutex = Mutex()
        val holder = Holder(this) { mutex.withLock { it() } }
        launch { mutex.withLock {} }
        runQueued()
        assertEquals(LOW, holder.level)
        launch(NORMAL) { mutex.withLock {} }
        runQueued()
        assertEquals(NORMAL, holder.level)
        holder.release()
    }

    @Test
    fun holder_onADispatcherWithoutLevels_isNotBoosted() = boosting {
        val mutex = Mutex()
        mutex.lock()
        val waiter = waiter(CRITICAL) { mutex.withLock { it() } }
        assertTrue((prioritized as DispatcherView).boosts.isEmpty)
        mutex.unlock()
        waiter.join()
    }

    @Test
    fun condition_await_endsTheBoost_reacquiring_startsItAgain() = boosting {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        val gate = CompletableDeferred<Unit>()
        lateinit var context: CoroutineContext
        val returning =
            launch(prioritized + LOW) {
                context = coroutineContext
                mutex.withLock {
                    condition.await()
                    gate.await()
                }
            }
        runQueued()
        val other = Holder(this) { mutex.withLock { it() } }
        launch(prioritized + IDLE) { mutex.withLock { condition.signal() } }
        runQueued()
        val urgent = waiter(CRITICAL) { mutex.withLock { it() } }
        assertEquals(listOf(CRITICAL, LOW), listOf(other.level, prioritized.levelOf(context)))
        other.release()
        runQueued()
        assertTrue(urgent.isCompleted)
        waiter(HIGH) { mutex.withLock { it() } }
        assertEquals(listOf(LOW, HIGH), listOf(other.level, prioritized.levelOf(context)))
        gate.complete(Unit)
        returning.join()
    }

    @Test
    fun readers_admittedTogether_areBoosted_eachWhileItReads() = boosting {
        val lock = ReadWriteLock()
        val writer =
            Holder(this) {
                lock.lockWrite()
                it()
                lock.unlockWrite()
            }
        val unnamed: Held = { lock.withRead { it() } }
        val named = listOf(unnamed, { lock.withRead("owner") { it() } }, unnamed)
        val contexts = ArrayList<CoroutineContext>()
        val gates = named.map { CompletableDeferred<Unit>() }
        named.forEachIndexed { i, read ->
            launch(prioritized + IDLE) {
                contexts += coroutineContext
                read { gates[i].await() }
            }
        }
        runQueued()
        waiter(CRITICAL) {
            lock.lockWrite()
            it()
            lock.unlockWrite()
        }
        fun levels() = contexts.map { prioritized.levelOf(it) }
        assertEquals(listOf(IDLE, IDLE, IDLE), levels())
        writer.release()
        runQueued()
        assertEquals(listOf(CRITICAL, CRITICAL, CRITICAL), levels())
        gates[1].complete(Unit)
        runQueued()
        assertEquals(listOf(CRITICAL, IDLE, CRITICAL), levels())
        gates[0].complete(Unit)
        runQueued()
        assertEquals(listOf(IDLE, IDLE, CRITICAL), levels())
        gates[2].complete(Unit)
    }

    @Test
    fun semaphore_resize_endsTheBoost_forItHasNoSingleHolder() = boosting {
        val semaphore = Semaphore(1)
        val holder = Holder(this) { semaphore.withPermit { it() } }
        val waiters = List(3) { waiter(CRITICAL) { semaphore.withPermit { delay(1.hours) } } }
        assertEquals(CRITICAL, holder.level)
        semaphore.resize(2)
        assertEquals(LOW, holder.level)
        holder.release()
        waiters.forEach { it.join() }
        assertEquals(2, semaphore.availablePermits)
    }

    @Test
    fun semaphore_close_endsTheBoost() = boosting {
        val semaphore = Semaphore(1)
        val holder = Holder(this) { semaphore.withPermit { it() } }
        val waiter = launch(prioritized + CRITICAL) { runCatching { semaphore.acquire() } }
        runQueued()
        assertEquals(CRITICAL, holder.level)
        semaphore.close()
        assertEquals(LOW, holder.level)
        waiter.join()
        holder.release()
    }

    @Test
    fun grant_toACancelledWaiter_boostsTheNextHolder() = boosting {
        val mutex = Mutex()
        val holder = Holder(this) { mutex.withLock { it() } }
        val late = launch(prioritized + LOW) { mutex.withLock {} }
        runQueued()
        val next = Holder(this) { mutex.withLock { it() } }
        runQueued()
        waiter(CRITICAL) { mutex.withLock { it() } }
        val inBetween =
            launch(prioritized + CRITICAL) {
                holder.release()
                yield()
                // The holder has unlocked at its own level, and the mutex is granted to the waiter that is being
                // cancelled.
                late.cancel()
            }
        inBetween.join()
        runQueued()
        assertTrue(late.isCancelled)
        assertEquals(CRITICAL, next.level)
        next.release()
    }

    @Test
    fun boost_ended_leavesNoHandlerAtTheHoldersJob() = boosting {
        val mutex = Mutex()
        launch(prioritized + LOW) {
            repeat(3) {
                mutex.lock()
                val waiter = this@boosting.launch(prioritized + CRITICAL) { mutex.withLock {} }
                yield()
                assertEquals(CRITICAL, prioritized.levelOf(coroutineContext))
                mutex.unlock()
                waiter.join()
            }
            assertFalse(coroutineContext.job.children.any())
        }
    }
}
