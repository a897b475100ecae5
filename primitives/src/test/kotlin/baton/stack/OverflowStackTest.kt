package baton.stack

import baton.channels.Channel
import baton.hostile.ShallowStack
import baton.sync.Barrier
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * An operation runs out of stack, at whatever depth. The object's lock is free afterwards: later calls return. The
 * interrupted operation may be half done.
 */
class OverflowStackTest {
    /** [operation] runs out of stack on what [prepare] makes; then [check] must return. */
    private fun <S> assertCallable(prepare: () -> S, operation: (S) -> Unit, check: (S) -> Unit) {
        assertTrue(ShallowStack.sweep(prepare, operation, check = check) > 0)
    }

    private fun start(block: suspend () -> Unit) =
        block.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })

    private fun <S> S.withWaiters(count: Int, wait: suspend S.() -> Unit): S = also {
        repeat(count) { start { wait() } }
    }

    @Test
    fun mutex_overflowWithOwner_laterCallsReturn() =
        assertCallable(
            { Mutex() },
            {
                check(it.tryLock("a"))
                it.unlock("a")
            },
        ) { mutex ->
            if (mutex.isLocked) mutex.holder?.let(mutex::unlock)
            mutex.tryLock("b")
            mutex.waiting
        }

    @Test
    fun mutex_overflowWhileOthersWait_laterCallsReturn() =
        assertCallable({ Mutex(locked = true).withWaiters(2) { lock() } }, Mutex::unlock) {
            it.waiting
            it.tryLock("b")
        }

    @Test
    fun readWriteLock_overflowWithOwners_laterCallsReturn() =
        assertCallable(
            { ReadWriteLock() },
            { lock ->
                check(lock.tryLockRead("a"))
                lock.unlockRead("a")
                check(lock.tryLockWrite("a"))
                lock.unlockWrite("a")
            },
        ) { lock ->
            lock.waiting
            lock.readHolders
            lock.tryLockRead("b")
            lock.tryLockWrite("c")
        }

    @Test
    fun semaphore_overflowWhileOthersWait_laterCallsReturn() =
        assertCallable({ Semaphore(3, acquired = 3).withWaiters(2) { acquire(2) } }, { it.release(2) }) { semaphore ->
            semaphore.waiting
            semaphore.resize(5)
            semaphore.tryAcquire()
        }

    @Test
    fun channel_overflow_laterCallsReturn() =
        assertCallable(
            { Channel<Int>(1).withWaiters(1) { receive() } },
            { channel -> repeat(2) { channel.trySend(it) }.also { channel.tryReceive() } },
        ) { channel ->
            channel.waiting
            channel.trySend(1)
            channel.tryReceive()
            channel.close()
        }

    @Test
    fun condition_overflow_laterCallsReturn() =
        assertCallable(
            {
                val condition = Mutex().newCondition().withWaiters(1) { mutex.lock().also { await() } }
                condition.also { check(it.mutex.tryLock("a")) }
            },
            { condition -> condition.signalAll().also { condition.mutex.unlock("a") } },
        ) { condition ->
            condition.waiting
            condition.mutex.waiting
            condition.mutex.tryLock("b")
        }

    @Test
    fun barrier_overflow_laterCallsReturn() =
        assertCallable(
            { Barrier(2).withWaiters(1) { runCatching { arrive() } } },
            { barrier -> start { barrier.arrive() } },
        ) { barrier ->
            barrier.waiting
            barrier.reset()
        }

    @Test
    fun waitGroup_overflow_laterCallsReturn() =
        assertCallable({ WaitGroup().apply { add() }.withWaiters(1) { await() } }, WaitGroup::done) { group ->
            group.waiting
            group.add()
            group.done()
        }
}
