package baton.stress

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.sync.readwrite.assertFree
import baton.sync.withLock
import baton.sync.withPermit
import baton.sync.withRead
import baton.sync.withWrite
import java.util.concurrent.Executors
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** A release, a resize, a close or the end of a dispatcher races with the waiters and their cancellation. */
open class ReleaseStressTest : Stress() {
    protected open val rounds
        get() = 1_500

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithRelease_losesNoPermit(order: WaitOrder) {
        val semaphore = Semaphore(1, acquired = 1, order = order)
        val mutex = Mutex(locked = true)
        stress(semaphore, mutex) {
            repeat(rounds * 3) {
                val waiters = listOf(launch { semaphore.withPermit {} }, launch { mutex.withLock {} })
                while (semaphore.waiting == 0 || mutex.waiting == 0) yield()
                val releases = listOf(launch { semaphore.release() }, launch { mutex.unlock() })
                waiters.forEach { it.cancel() }
                (waiters + releases).joinAll()
                check(semaphore.tryAcquire() && mutex.tryLock()) { "$semaphore $mutex" }
                watchdog.progress()
            }
        }
        semaphore.release()
        assertAtRest(semaphore)
    }

    @ParameterizedTest
    @EnumSource
    fun twoReleases_racing_wakeTwoWaiters(order: WaitOrder) {
        repeat(rounds / 2) {
            val semaphore = Semaphore(2, acquired = 2, order = order)
            stress(semaphore) {
                repeat(2) { launch { semaphore.acquire() } }
                repeat(2) { launch { semaphore.release() } }
            }
            assertEquals("0 0", "${semaphore.availablePermits} ${semaphore.waiting}")
            watchdog.progress()
        }
    }

    @ParameterizedTest
    @EnumSource
    fun waiterOfADeadDispatcher_passesThePermitOn(order: WaitOrder) {
        repeat(rounds / 30) {
            val executor = Executors.newSingleThreadExecutor()
            val semaphore = Semaphore(1, acquired = 1, order = order)
            stress(semaphore) {
                val doomed = launch(executor.asCoroutineDispatcher()) { semaphore.withPermit {} }
                while (semaphore.waiting == 0) yield()
                val next = launch { semaphore.withPermit {} }
                while (semaphore.waiting < 2) yield()
                executor.shutdown()
                semaphore.release()
                joinAll(next, doomed)
                check(doomed.isCancelled)
                watchdog.progress()
            }
            assertAtRest(semaphore)
        }
    }

    /** The number of free permits that a release reads may be right for the number of permits before or after. */
    @Test
    fun release_excessRacingResize_isDetected() {
        val semaphore = Semaphore(2)
        stress(semaphore) {
            val resizes = launch {
                repeat(rounds * 20) {
                    semaphore.resize(1 + it % 3)
                    watchdog.progress()
                }
            }
            while (resizes.isActive) {
                check(runCatching { semaphore.release() }.exceptionOrNull() is IllegalStateException) { "$semaphore" }
            }
        }
        assertAtRest(semaphore)
    }

    @Test
    fun close_racingWithEverything_endsAllCalls() {
        repeat(rounds / 4) {
            val semaphore = Semaphore(2)
            stress(semaphore) {
                repeat(6) {
                    launch {
                        try {
                            repeat(3) {
                                val n = 1 + random.nextInt(2)
                                semaphore.acquire(n)
                                yield()
                                semaphore.release(n)
                            }
                        } catch (_: SemaphoreClosedException) {
                            // as it should be
                        }
                    }
                }
                launch { semaphore.close() }
                launch { semaphore.awaitIdle() }
            }
            watchdog.progress()
            assertEquals(2, semaphore.availablePermits)
            assertEquals(0, semaphore.waiting)
        }
    }

    @Test
    fun awaitIdle_racingWithHolders_endsOnceAllIsBack() {
        val semaphore = Semaphore(3)
        stress(semaphore) {
            val holders =
                List(8) {
                    launch {
                        repeat(rounds) {
                            val n = 1 + random.nextInt(3)
                            if (semaphore.tryAcquire(n, 1.milliseconds)) {
                                yield()
                                semaphore.release(n)
                            }
                            watchdog.progress()
                        }
                    }
                }
            repeat(4) {
                launch {
                    while (holders.any { it.isActive }) {
                        val patience = if (random.nextBoolean()) 1.milliseconds else 1.minutes
                        withTimeoutOrNull(patience) { semaphore.awaitIdle() }
                        delay(1)
                    }
                }
            }
        }
        assertAtRest(semaphore)
    }

    private fun lockRounds(lock: ReadWriteLock, round: suspend CoroutineScope.(owner: Any?) -> Unit) =
        stress(lock) {
            repeat(rounds / 3) {
                round(if (random.nextBoolean()) Any() else null)
                watchdog.progress()
            }
        }

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithTheWritersLeaving_losesNothing(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        check(lock.tryLockWrite())
        lockRounds(lock) { owner ->
            val readers = List(3) { launch { lock.withRead(owner) {} } }
            val writer = launch { lock.withWrite {} }
            while (lock.waiting < 4) yield()
            val unlock = launch { lock.unlockWrite() }
            readers[random.nextInt(3)].cancel()
            if (random.nextBoolean()) writer.cancel()
            joinAll(*readers.toTypedArray(), writer, unlock)
            check(lock.tryLockWrite()) { "$lock" }
        }
        lock.unlockWrite()
        assertFree(lock)
    }

    /** The reader that keeps the lock wakes no waiter. */
    @ParameterizedTest
    @EnumSource
    fun writerThatGivesUp_letsInTheReadersItHeldBack(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        check(lock.tryLockRead())
        lockRounds(lock) { owner ->
            val writer = launch { lock.withWrite {} }
            while (lock.waiting == 0) yield()
            val readers = List(2) { launch { lock.withRead(owner) {} } }
            if (random.nextBoolean()) yield()
            writer.cancel()
            readers.joinAll()
        }
        lock.unlockRead()
        assertFree(lock)
    }

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithAnUpgrade_leavesItUpgradable(policy: ReadWritePolicy) {
        val lock = ReadWriteLock(policy)
        lockRounds(lock) {
            check(lock.tryLockRead() && lock.tryLockUpgradable()) { "$lock" }
            // A job may be cancelled after upgrade() has returned: only the call itself shows how it ended.
            var upgraded = false
            val upgrade = launch {
                lock.upgrade()
                upgraded = true
                lock.downgrade()
            }
            val reader = launch { lock.withRead {} }
            while (lock.waiting == 0) yield()
            val unlock = launch { lock.unlockRead() }
            upgrade.cancel()
            joinAll(upgrade, reader, unlock)
            if (upgraded) lock.unlockRead() else lock.unlockUpgradable()
        }
        assertFree(lock)
    }
}

class ReleaseStressDeepTest : ReleaseStressTest() {
    override val rounds
        get() = 100_000
}
