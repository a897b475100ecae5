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
    private fun <S> assertCallable(prepare: () -> S, operation: (S) -> Unit, check: (S) -> Unit) {
        assertTrue(ShallowStack.sweep(prepare, operation, check) > 0)
    }

    private fun start(block: suspend () -> Unit) =
        block.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })

    @Test
    fun mutex_overflowWithOwner_laterCallsReturn() =
        assertCallable(
            prepare = { Mutex() },
            operation = { mutex ->
                check(mutex.tryLock("a"))
                mutex.unlock("a")
            },
            check = { mutex ->
                if (mutex.isLocked) mutex.holder?.let(mutex::unlock)
                mutex.tryLock("b")
                mutex.waiting
            },
        )

    @Test
    fun mutex_overflowWhileOthersWait_laterCallsReturn() =
        assertCallable(
            prepare = {
                Mutex(locked = true).also { mutex -> repeat(2) { start { mutex.lock() } } }
            },
            operation = { mutex -> mutex.unlock() },
            check = { mutex ->
                mutex.waiting
                mutex.tryLock("b")
            },
        )

    @Test
    fun readWriteLock_overflowWithOwners_laterCallsReturn() =
        assertCallable(
            prepare = { ReadWriteLock() },
            operation = { lock ->
                check(lock.tryLockRead("a"))
                lock.unlockRead("a")
                check(lock.tryLockWrite("a"))
                lock.unlockWrite("a")
            },
            check = { lock ->
                lock.waiting
                lock.readHolders
                lock.tryLockRead("b")
                lock.tryLockWrite("c")
            },
        )

    @Test
    fun semaphore_overflowWhileOthersWait_laterCallsReturn() =
        assertCallable(
            prepare = {
                Semaphore(3, acquired = 3).also { semaphore -> repeat(2) { start { semaphore.acquire(2) } } }
            },
            operation = { semaphore -> semaphore.release(2) },
            check = { semaphore ->
                semaphore.waiting
                semaphore.resize(5)
                semaphore.tryAcquire()
            },
        )

    @Test
    fun channel_overflow_laterCallsReturn() =
        assertCallable(
            prepare = { Channel<Int>(1).also { channel -> start { channel.receive() } } },
            operation = { channel ->
                repeat(2) { channel.trySend(it) }
                channel.tryReceive()
            },
            check = { channel ->
                channel.waiting
                channel.trySend(1)
                channel.tryReceive()
                channel.close()
            },
        )

    @Test
    fun condition_overflow_laterCallsReturn() =
        assertCallable(
            prepare = {
                Mutex().newCondition().also { condition ->
                    start {
                        condition.mutex.lock()
                        condition.await()
                    }
                    check(condition.mutex.tryLock("a"))
                }
            },
            operation = { condition ->
                condition.signalAll()
                condition.mutex.unlock("a")
            },
            check = { condition ->
                condition.waiting
                condition.mutex.waiting
                condition.mutex.tryLock("b")
            },
        )

    @Test
    fun barrier_overflow_laterCallsReturn() =
        assertCallable(
            prepare = { Barrier(2).also { barrier -> start { runCatching { barrier.arrive() } } } },
            operation = { barrier -> start { barrier.arrive() } },
            check = { barrier ->
                barrier.waiting
                barrier.reset()
            },
        )

    @Test
    fun waitGroup_overflow_laterCallsReturn() =
        assertCallable(
            prepare = { WaitGroup().also { group -> group.add().also { start { group.await() } } } },
            operation = { group -> group.done() },
            check = { group ->
                group.waiting
                group.add()
                group.done()
            },
        )
}
