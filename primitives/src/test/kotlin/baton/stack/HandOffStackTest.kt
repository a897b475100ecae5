package baton.stack

import baton.sync.Barrier
import baton.sync.LateDispatcher
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.waiting.Enough
import java.util.concurrent.Executor
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many waiters, each of which wakes the next. Runs with a small stack. */
class HandOffStackTest : StackRun() {
    /** Many callers whose [turn] it is one after the other, when the first holder [release]s. */
    private class Relay(
        val primitive: Any,
        val idle: Any,
        val count: Int,
        val release: () -> Unit,
        val turn: suspend () -> Unit,
    )

    private fun relay(count: Int, turn: suspend (Mutex) -> Unit): Relay {
        val mutex = Mutex(locked = true)
        return Relay(mutex, Mutex(), count, mutex::unlock) { turn(mutex) }
    }

    private fun relay(order: WaitOrder, count: Int, turn: suspend (Semaphore) -> Unit): Relay {
        val semaphore = Semaphore(1, acquired = 1, order = order)
        return Relay(semaphore, Semaphore(1, order = order), count, semaphore::release) { turn(semaphore) }
    }

    private fun relays(): List<Relay> =
        WaitOrder.entries.map { order ->
            relay(order, MANY) {
                it.acquire()
                it.release()
            }
        } +
            relay(WaitOrder.FIFO, MANY) { semaphore -> select { semaphore.onAcquire(1) { it.release() } } } +
            relay(MANY) { mutex ->
                mutex.lock()
                mutex.unlock()
            } +
            relay(MANY) { mutex -> select { mutex.onLock(null) { it.unlock() } } }

    @ParameterizedTest
    @EnumSource
    fun mutexAndSemaphore_handedOn(world: World) {
        for (relay in relays()) {
            done = 0
            repeat(relay.count) { start(world.context, relay.turn) }
            relay.release()
            assertEquals(relay.count, done, "${relay.primitive}")
            assertEquals("${relay.idle}", "${relay.primitive}")
        }
    }

    @ParameterizedTest
    @EnumSource
    fun condition_allSignalled(world: World) {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        repeat(MANY) { start(world.context) { mutex.withLock { condition.await() } } }
        assertEquals(MANY, condition.waiting)
        check(mutex.tryLock())
        condition.signalAll()
        assertEquals(MANY, mutex.waiting)
        mutex.unlock()
        assertEquals(MANY, done)
        assertEquals(false, mutex.isLocked)
    }

    /** Each waiter cancels the next when it has returned with the mutex, and while it still holds it. */
    @ParameterizedTest
    @EnumSource
    fun condition_cancelledInAChain(world: World) {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        cancelInAChain(world, MANY) { next -> mutex.withLock { finally(next) { condition.await() } } }
        assertEquals(0, condition.waiting)
        assertEquals(false, mutex.isLocked)
    }

    /** The select has been decided for the other clause, but its thread has not yet come to leave the queue. */
    @ParameterizedTest
    @EnumSource
    fun semaphore_handedOnPastSelectsThatAnotherClauseHasWon(world: World) {
        val semaphore = Semaphore(1, acquired = 1)
        val channel = Channel<Unit>()
        val late = LateDispatcher()
        repeat(MANY) {
            start(if (world == World.UNCONFINED) late else world.context) {
                select {
                    semaphore.onAcquire(1) { it.release() }
                    channel.onReceive {}
                }
            }
        }
        late.run()
        repeat(MANY) { channel.trySend(Unit) }
        semaphore.release()
        late.run()
        assertEquals(MANY, done)
        assertEquals(1, semaphore.availablePermits)
    }

    @ParameterizedTest
    @EnumSource
    fun semaphore_cancelledInAChain(world: World) {
        val semaphore = Semaphore(1, acquired = 1)
        cancelInAChain(world, MANY) { next -> finally(next) { semaphore.acquire() } }
        assertEquals(0, semaphore.waiting)
        semaphore.release()
        assertEquals(1, semaphore.availablePermits)
    }

    /** Granted, then cancelled before they run: each gives the permit back to the next. */
    @ParameterizedTest
    @EnumSource
    fun semaphore_grantedToOneCancelledAfterTheOther(order: WaitOrder) {
        val semaphore = Semaphore(1, acquired = 1, order = order)
        val late = LateDispatcher()
        val job = Job()
        repeat(MANY) { start(late + job) { semaphore.acquire() } }
        late.run()
        semaphore.release()
        job.cancel(Enough)
        late.run()
        assertEquals(MANY, failed)
        assertEquals(1, semaphore.availablePermits)
    }

    @ParameterizedTest
    @EnumSource
    fun barrier_releasesAllAtOnce_andTheyArriveAgain(world: World) {
        val barrier = Barrier(MANY)
        repeat(MANY) {
            start(world.context) {
                barrier.arrive()
                barrier.arrive()
            }
        }
        assertEquals(MANY, done)
        assertEquals(0, barrier.waiting)
    }

    /** Each party runs its action, which releases the next party to run its own. */
    @ParameterizedTest
    @EnumSource
    fun barrier_actionsOneAfterTheOther(world: World) {
        val count = 100_000
        val gate = Mutex(locked = true)
        val barrier = Barrier(1) { gate.withLock {} }
        repeat(count) { start(world.context) { barrier.arrive() } }
        assertEquals(count - 1, barrier.waiting)
        gate.unlock()
        assertEquals(count, done)
        assertEquals(0, barrier.waiting)
    }

    /** Each invited waiter ran at once, and its claim invited the next, each on the stack of the one before. */
    @Test
    fun semaphore_unfairAndOneReleaseForAll_invitesThemFlat() {
        val count = 100_000
        val semaphore = Semaphore(count, acquired = count, order = WaitOrder.UNFAIR)
        val atOnce = Executor(Runnable::run).asCoroutineDispatcher()
        repeat(count) { start(atOnce) { semaphore.acquire() } }
        semaphore.release(count)
        assertEquals(count, done)
        assertEquals(0, semaphore.availablePermits)
    }
}
