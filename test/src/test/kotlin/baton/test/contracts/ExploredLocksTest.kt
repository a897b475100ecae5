package baton.test.contracts

import baton.sync.Barrier
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.WaitGroup
import baton.sync.withLock
import baton.sync.withPermits
import baton.sync.withRead
import baton.sync.withWrite
import baton.test.explore
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Rules of single primitives, beyond those of waiting, in any order. */
class ExploredLocksTest {
    @ParameterizedTest
    @EnumSource
    fun upgrade_othersReadAndWrite_noneWritesInBetween(policy: ReadWritePolicy) =
        explore(RUNS, SEED, cancels = true) {
            val lock = ReadWriteLock(policy)
            var value = 0
            var readers = 0
            repeat(2) {
                launch(CoroutineName("upgrader $it")) {
                    lock.lockUpgradable()
                    var isWriting = false
                    try {
                        val seen = value
                        yield()
                        lock.upgrade()
                        isWriting = true
                        assertEquals(0, readers)
                        assertEquals(seen, value)
                        value++
                    } finally {
                        if (isWriting) lock.unlockWrite() else lock.unlockUpgradable()
                    }
                }
            }
            launch(CoroutineName("writer")) { lock.withWrite { value++ } }
            launch(CoroutineName("reader")) {
                lock.withRead {
                    val seen = value
                    readers++
                    try {
                        yield()
                    } finally {
                        readers--
                    }
                    assertEquals(seen, value)
                }
            }
            afterwards { assertTrue(lock.tryLockWrite()) }
        }

    @Test
    fun permits_severalAndResizedMeanwhile_areAllThereInTheEnd() =
        explore(RUNS, SEED, cancels = true) {
            val semaphore = Semaphore(3)
            var held = 0
            for (n in listOf(1, 2, 1)) {
                launch(CoroutineName("caller of $n")) {
                    semaphore.withPermits(n) {
                        held += n
                        assertTrue(held <= 4)
                        try {
                            yield()
                        } finally {
                            held -= n
                        }
                    }
                }
            }
            val resizing =
                launch(CoroutineName("resizing")) {
                    semaphore.resize(4)
                    yield()
                    semaphore.resize(2)
                }
            launch(CoroutineName("idler")) { semaphore.awaitIdle() }
            afterwards {
                if (!resizing.isCancelled) assertEquals(2, semaphore.permits)
                assertEquals(semaphore.permits, semaphore.availablePermits)
            }
        }

    @Test
    fun condition_producersAndConsumers_loseNoItem() =
        explore(RUNS, SEED, cancels = true) {
            val mutex = Mutex()
            val changed = mutex.newCondition()
            val items = ArrayDeque<Int>()
            var put = 0
            var taken = 0
            var isDone = false
            repeat(2) {
                launch(CoroutineName("consumer $it")) {
                    while (true) {
                        mutex.withLock {
                            while (items.isEmpty() && !isDone) changed.await()
                            if (items.isEmpty()) return@launch
                            items.removeFirst()
                            taken++
                        }
                    }
                }
            }
            repeat(2) { producer ->
                launch(CoroutineName("producer $producer")) {
                    for (n in 1..2) {
                        mutex.withLock {
                            items += n
                            put++
                            changed.signal()
                        }
                    }
                }
            }
            delay(1.seconds) // Time goes on when all wait.
            check(items.isEmpty()) { "no consumer was woken for $items" }
            mutex.withLock {
                isDone = true
                changed.signalAll()
            }
            afterwards {
                assertEquals(put, taken)
                assertEquals(0, changed.waiting)
                assertTrue(mutex.tryLock())
            }
        }

    @Test
    fun barrier_fastParties_areNeverARoundAhead() =
        explore(RUNS, SEED) {
            var trips = 0
            val barrier = Barrier(3) { trips++ }
            val arrivals = IntArray(3)
            repeat(3) { party ->
                launch(CoroutineName("party $party")) {
                    for (round in 1..3) {
                        arrivals[party]++
                        barrier.arrive()
                        assertTrue(arrivals.all { it >= round })
                        assertTrue(trips >= round)
                    }
                }
            }
            afterwards { assertEquals(3, trips) }
        }

    @Test
    fun waitGroup_addedToMeanwhile_opensWhenAllAreDone() =
        explore(RUNS, SEED, cancels = true) {
            val group = WaitGroup()
            var running = 0

            fun start(name: String, block: suspend () -> Unit = {}) {
                group.add()
                running++
                val job =
                    launch(CoroutineName(name)) {
                        yield()
                        block()
                    }
                job.invokeOnCompletion {
                    running--
                    group.done()
                }
            }
            start("parent") { start("child") }
            start("other")
            launch(CoroutineName("waiter")) {
                group.await()
                assertEquals(0, running)
            }
            group.await()
            assertEquals(0, running)
        }
}
