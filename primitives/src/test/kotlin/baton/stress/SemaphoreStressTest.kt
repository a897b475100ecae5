package baton.stress

import baton.Priority
import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import java.util.concurrent.Executors
import java.util.concurrent.ThreadLocalRandom
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

open class SemaphoreStressTest {
    protected open val attempts get() = 100_000
    protected open val rounds get() = 2_000

    private val watchdog = Watchdog()
    private val random get() = ThreadLocalRandom.current()

    /** Runs [block] on many threads; a coroutine that fails fails the test. */
    private fun stress(semaphore: Semaphore, block: suspend CoroutineScope.() -> Unit) =
        watchdog.run({ "$semaphore" }) { runBlocking(Dispatchers.Default) { coroutineScope(block) } }

    private fun assertAtRest(semaphore: Semaphore) {
        assertEquals(0, semaphore.waiting)
        assertEquals(semaphore.permits, semaphore.availablePermits, "$semaphore")
        assertTrue(semaphore.tryAcquire(semaphore.permits))
        assertEquals(0, semaphore.availablePermits)
        semaphore.release(semaphore.permits)
    }

    /** Counts the held permits, and checks that they are never too many. */
    private class Ledger(val bound: Int) {
        private val held = AtomicInteger()
        val granted = AtomicInteger()

        fun take(n: Int) {
            val now = held.addAndGet(n)
            check(now <= bound) { "$now held of $bound" }
            granted.incrementAndGet()
        }

        fun leave(n: Int) {
            check(held.addAndGet(-n) >= 0)
        }
    }

    private suspend fun use(semaphore: Semaphore, ledger: Ledger, n: Int) {
        ledger.take(n)
        try {
            if (random.nextInt(4) == 0) yield()
        } finally {
            ledger.leave(n)
            semaphore.release(n)
        }
    }

    private suspend fun attempt(semaphore: Semaphore, ledger: Ledger) {
        val n = 1 + random.nextInt(3)
        when (random.nextInt(7)) {
            0 -> if (semaphore.tryAcquire(n)) use(semaphore, ledger, n)
            1 -> if (semaphore.tryAcquire(n, random.nextLong(300).microseconds)) use(semaphore, ledger, n)
            2 ->
                withTimeoutOrNull(random.nextLong(1, 3).milliseconds) {
                    semaphore.acquire(n)
                    use(semaphore, ledger, n)
                }
            3 -> {
                val got =
                    select {
                        semaphore.onAcquire(n) { true }
                        onTimeout(random.nextLong(2).milliseconds) { false }
                    }
                if (got) use(semaphore, ledger, n)
            }
            4, 5 -> {
                semaphore.acquire(n)
                use(semaphore, ledger, n)
            }
            else -> {
                semaphore.acquire()
                use(semaphore, ledger, 1)
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    fun permits_underCancellationTimeoutsAndSelects_areNeitherLostNorInvented(order: WaitOrder) {
        val semaphore = Semaphore(4, order = order)
        val ledger = Ledger(4)
        val left = AtomicInteger(attempts)
        stress(semaphore) {
            repeat(200) {
                launch(Priority.entries[it % 5]) {
                    while (left.get() > 0) {
                        val victim =
                            launch {
                                repeat(20) {
                                    left.decrementAndGet()
                                    attempt(semaphore, ledger)
                                    watchdog.progress()
                                }
                            }
                        if (random.nextInt(10) < 4) {
                            repeat(random.nextInt(20)) { yield() }
                            victim.cancel()
                        }
                        victim.join()
                    }
                }
            }
        }
        assertTrue(ledger.granted.get() > attempts / 10, "only ${ledger.granted} grants")
        assertAtRest(semaphore)
    }

    @ParameterizedTest
    @EnumSource
    fun resize_racingWithEverything_leavesTheDebtExact(order: WaitOrder) {
        val semaphore = Semaphore(6, order = order)
        val ledger = Ledger(8)
        stress(semaphore) {
            val others =
                List(50) {
                    launch {
                        repeat(attempts / 300) {
                            val victim = launch { attempt(semaphore, ledger) }
                            if (random.nextInt(10) < 3) victim.cancel()
                            victim.join()
                            watchdog.progress()
                        }
                    }
                }
            launch {
                while (others.any { it.isActive }) {
                    semaphore.resize(3 + random.nextInt(6))
                    yield()
                }
            }
        }
        assertAtRest(semaphore)
        semaphore.resize(5)
        assertAtRest(semaphore)
    }

    @Test
    fun close_racingWithEverything_endsEverybody() {
        repeat(rounds / 3) {
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

    @ParameterizedTest
    @EnumSource
    fun twoReleases_racing_wakeTwoWaiters(order: WaitOrder) {
        repeat(rounds) {
            val semaphore = Semaphore(2, acquired = 2, order = order)
            stress(semaphore) {
                repeat(2) { launch { semaphore.acquire() } }
                repeat(2) { launch { semaphore.release() } }
            }
            assertEquals(0, semaphore.availablePermits)
            assertEquals(0, semaphore.waiting)
            watchdog.progress()
        }
    }

    @ParameterizedTest
    @EnumSource
    fun cancel_racingWithRelease_losesNoPermit(order: WaitOrder) {
        val semaphore = Semaphore(1, acquired = 1, order = order)
        stress(semaphore) {
            repeat(rounds * 5) {
                val waiter =
                    launch {
                        semaphore.acquire()
                        semaphore.release()
                    }
                while (semaphore.waiting == 0) yield()
                val release = launch { semaphore.release() }
                waiter.cancel()
                joinAll(waiter, release)
                check(semaphore.tryAcquire()) { "$semaphore" }
                watchdog.progress()
            }
        }
        semaphore.release()
        assertAtRest(semaphore)
    }

    @ParameterizedTest
    @EnumSource
    fun waiterOfADeadDispatcher_passesThePermitOn(order: WaitOrder) {
        repeat(rounds / 20) {
            val executor = Executors.newSingleThreadExecutor()
            val semaphore = Semaphore(1, acquired = 1, order = order)
            stress(semaphore) {
                val doomed =
                    launch(executor.asCoroutineDispatcher()) {
                        semaphore.acquire()
                        semaphore.release()
                    }
                while (semaphore.waiting == 0) yield()
                val next =
                    launch {
                        semaphore.acquire()
                        semaphore.release()
                    }
                while (semaphore.waiting < 2) yield()
                executor.shutdown()
                semaphore.release()
                next.join()
                doomed.join()
                check(doomed.isCancelled)
                watchdog.progress()
            }
            assertAtRest(semaphore)
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
}

class SemaphoreStressDeepTest : SemaphoreStressTest() {
    override val attempts get() = 4_000_000
    override val rounds get() = 40_000
}
