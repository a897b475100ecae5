package baton.stack

import baton.sync.Barrier
import baton.sync.LateDispatcher
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.withLock
import baton.waiting.Enough
import java.util.concurrent.Executor
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** A million waiters, or many, each of which wakes the next. Runs with a small stack. */
class HandOffStackTest {
    enum class World(val context: CoroutineContext) {
        UNCONFINED(Dispatchers.Unconfined),
        NO_DISPATCHER(EmptyCoroutineContext),
        IMMEDIATE(Immediate),
        IN_PLACE(Executor(Runnable::run).asCoroutineDispatcher()),
    }

    private object Immediate : CoroutineDispatcher() {
        override fun isDispatchNeeded(context: CoroutineContext) = false

        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()
    }

    private var done = 0

    private fun start(context: CoroutineContext, block: suspend () -> Unit) {
        block.startCoroutine(
            object : Continuation<Unit> {
                override val context = context

                override fun resumeWith(result: Result<Unit>) {
                    val e = result.exceptionOrNull()
                    if (e != null && e !is CancellationException) throw e
                    done++
                }
            },
        )
    }

    @ParameterizedTest
    @EnumSource
    fun mutex_handedOn(world: World) {
        val mutex = Mutex(locked = true)
        repeat(MILLION) {
            start(world.context) {
                mutex.lock()
                mutex.unlock()
            }
        }
        assertEquals(MILLION, mutex.waiting)
        mutex.unlock()
        assertEquals(MILLION, done)
        assertEquals(false, mutex.isLocked)
    }

    @ParameterizedTest
    @EnumSource
    fun mutex_handedOnToSelects(world: World) {
        val mutex = Mutex(locked = true)
        repeat(MANY) { start(world.context) { select { mutex.onLock(null) { it.unlock() } } } }
        mutex.unlock()
        assertEquals(MANY, done)
        assertEquals(false, mutex.isLocked)
    }

    @ParameterizedTest
    @EnumSource
    fun condition_allSignalled(world: World) {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        val count = if (world == World.NO_DISPATCHER) MILLION else MILLION / 10
        repeat(count) { start(world.context) { mutex.withLock { condition.await() } } }
        assertEquals(count, condition.waiting)
        check(mutex.tryLock())
        condition.signalAll()
        assertEquals(count, mutex.waiting)
        mutex.unlock()
        assertEquals(count, done)
        assertEquals(false, mutex.isLocked)
    }

    /** Each waiter cancels the next when it has returned with the mutex, and while it still holds it. */
    @ParameterizedTest
    @EnumSource
    fun condition_cancelledInAChain(world: World) {
        val count = MILLION / 10
        val mutex = Mutex()
        val condition = mutex.newCondition()
        val jobs = List(count) { Job() }
        repeat(count) { n ->
            start(world.context + jobs[n]) {
                mutex.withLock {
                    try {
                        condition.await()
                    } finally {
                        if (n + 1 < count) jobs[n + 1].cancel(Enough)
                    }
                }
            }
        }
        jobs[0].cancel(Enough)
        assertEquals(count, done)
        assertEquals(0, condition.waiting)
        assertEquals(false, mutex.isLocked)
    }

    @ParameterizedTest
    @EnumSource
    fun semaphore_handedOn(world: World) {
        for (order in WaitOrder.entries) {
            done = 0
            val semaphore = Semaphore(1, acquired = 1, order = order)
            repeat(MILLION) {
                start(world.context) {
                    semaphore.acquire()
                    semaphore.release()
                }
            }
            assertEquals(MILLION, semaphore.waiting)
            semaphore.release()
            assertEquals(MILLION, done, "$order")
            assertEquals(1, semaphore.availablePermits)
        }
    }

    @ParameterizedTest
    @EnumSource
    fun semaphore_handedOnToSelects(world: World) {
        val semaphore = Semaphore(1, acquired = 1)
        repeat(MANY) { start(world.context) { select { semaphore.onAcquire(1) { it.release() } } } }
        semaphore.release()
        assertEquals(MANY, done)
        assertEquals(1, semaphore.availablePermits)
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
                    channel.onReceive { }
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
        val jobs = List(MANY) { Job() }
        repeat(MANY) { n ->
            start(world.context + jobs[n]) {
                try {
                    semaphore.acquire()
                } finally {
                    if (n + 1 < MANY) jobs[n + 1].cancel(Enough)
                }
            }
        }
        jobs[0].cancel(Enough)
        assertEquals(MANY, done)
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
        assertEquals(MANY, done)
        assertEquals(1, semaphore.availablePermits)
    }

    @ParameterizedTest
    @EnumSource
    fun barrier_letsGoAllAtOnceWhoThenArriveAgain(world: World) {
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
        val barrier = Barrier(1) { gate.withLock { } }
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

    private companion object {
        private const val MILLION = 1_000_000

        /**
         * The number of waiters that need more memory than their queue node: some hundred times as many as the stack
         * would bear.
         */
        private const val MANY = 200_000
    }
}
