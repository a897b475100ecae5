package baton.stress

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.sync.withPermits
import baton.sync.withRead
import baton.sync.withWrite
import java.util.concurrent.Executor
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/**
 * Coroutines that wait at one primitive after the other, so that their waiters go from queue to queue, on dispatchers
 * that queue and on some that run in place, and that are cancelled meanwhile.
 */
open class WaiterReuseStressTest : Stress() {
    protected open val operations
        get() = 12_000

    private val mutex = Mutex()
    private val semaphore = Semaphore(3)
    private val unfair = Semaphore(2, order = WaitOrder.UNFAIR)
    private val lock = ReadWriteLock()
    private val channel = Channel<Int>(1)

    /** The number of holders of the mutex, and of writers of the lock. */
    private val inside = AtomicInteger()
    private val writing = AtomicInteger()
    private val left = AtomicInteger(operations)
    private val sent = AtomicInteger()
    private val received = AtomicInteger()

    @Test
    fun waits_atAllPrimitivesInTurn_endOnceAndWithTheirOwnGrant() {
        val executor = Executors.newSingleThreadExecutor()
        val dispatchers =
            listOf(
                Dispatchers.Default,
                Dispatchers.Unconfined,
                executor.asCoroutineDispatcher(),
                Executor { it.run() }.asCoroutineDispatcher(),
            )
        stress(mutex, semaphore, unfair, lock, channel) { repeat(12) { launch { keepOneBusy(dispatchers) } } }
        executor.shutdown()
        while (channel.tryReceive().isSuccess) received.incrementAndGet()
        assertEquals(sent.get(), received.get())
        assertEquals(0, mutex.waiting + semaphore.waiting + unfair.waiting + lock.waiting + channel.waiting)
        assertEquals(listOf(false, false), listOf(mutex.isLocked, lock.isWriteLocked))
        assertEquals(listOf(0, 3, 2), listOf(lock.readers, semaphore.availablePermits, unfair.availablePermits))
    }

    /** Also cancels a coroutine that waits at the channel for ever. */
    private suspend fun CoroutineScope.keepOneBusy(dispatchers: List<CoroutineDispatcher>) {
        while (left.get() > 0) {
            val victim = launch(dispatchers.random()) { work() }
            repeat(random.nextInt(2000)) { if (victim.isActive) yield() }
            victim.cancelAndJoin()
        }
    }

    private suspend fun CoroutineScope.work() {
        try {
            while (isActive && left.getAndDecrement() > 0) {
                operate()
                watchdog.progress()
            }
        } catch (e: CancellationException) {
            check(!isActive) { "cancelled by itself: $e" }
        }
    }

    private suspend fun operate() {
        when (random.nextInt(7)) {
            0 -> mutex.withLock { alone(inside) }
            1 -> semaphore.withPermits(1 + random.nextInt(3)) { yieldSometimes() }
            2 -> unfair.withPermits(1 + random.nextInt(2)) { yieldSometimes() }
            3 -> lock.withRead { check(writing.get() == 0) }
            4 -> lock.withWrite { alone(writing) }
            5 -> {
                channel.send(1)
                sent.incrementAndGet()
            }
            else -> {
                channel.receive()
                received.incrementAndGet()
            }
        }
    }

    private suspend fun alone(count: AtomicInteger) {
        check(count.incrementAndGet() == 1) { "two at a time" }
        try {
            yieldSometimes()
        } finally {
            count.decrementAndGet()
        }
    }
}

class WaiterReuseStressDeepTest : WaiterReuseStressTest() {
    override val operations
        get() = 10_000_000
}
