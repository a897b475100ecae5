package baton.interop.mixed

import baton.Priority
import baton.interop.AsyncMutex
import baton.interop.AsyncReadWriteLock
import baton.interop.AsyncSemaphore
import baton.interop.Futures
import baton.interop.Permit
import baton.interop.blocking.BlockedCall
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import java.time.Duration
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import java.util.concurrent.TimeUnit
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** Coroutines, `select` clauses, Java futures and blocked threads wait in one queue, in the order of their arrival. */
@Tag("any-jdk")
class SameQueueTest {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Unconfined)

    @AfterEach fun end() = scope.cancel()

    private class Waiter(val leave: () -> Unit)

    /** One primitive, with the ways to wait for it and to withdraw the request. */
    private abstract inner class Line {
        val served: MutableList<Int> = CopyOnWriteArrayList()

        abstract val waiting: Int

        abstract suspend fun enter()

        abstract suspend fun select(abandoned: CompletableDeferred<Unit>): Boolean

        abstract fun future(): CompletableFuture<Permit>

        /** A request with all optional arguments. */
        abstract fun patientFuture(): CompletableFuture<Permit>

        /** A call that blocks the thread. */
        abstract fun block()

        abstract fun giveBack()

        /** Waits for the thread that is served, if it is one. */
        fun assertServed(numbers: List<Int>) {
            val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(120)
            while (served.size < numbers.size && System.nanoTime() < deadline) Thread.yield()
            assertEquals(numbers, served)
        }

        fun thread(number: Int): Waiter {
            val before = waiting
            val call =
                BlockedCall.started {
                    try {
                        block()
                        served += number
                    } catch (_: InterruptedException) {
                        Unit
                    }
                }
            while (waiting == before && !call.isDone) Thread.yield()
            return Waiter {
                call.thread.interrupt()
                call.result()
            }
        }

        fun coroutine(number: Int): Waiter {
            val job: Job =
                scope.launch {
                    enter()
                    served += number
                }
            return Waiter { job.cancel() }
        }

        fun clause(number: Int, loses: Boolean): Waiter {
            val abandoned = CompletableDeferred<Unit>()
            val job: Job = scope.launch { if (select(abandoned)) served += number }
            return Waiter { if (loses) abandoned.complete(Unit) else job.cancel() }
        }

        fun future(
            number: Int,
            future: CompletableFuture<Permit> = future(),
            leave: (CompletableFuture<Permit>) -> Unit,
        ): Waiter {
            future.thenAccept { if (it != null) served += number }
            return Waiter { leave(future) }
        }
    }

    private inner class SemaphoreLine : Line() {
        private val semaphore = Semaphore(1, acquired = 1)
        private val java = AsyncSemaphore.of(semaphore)

        override val waiting
            get() = semaphore.waiting

        override suspend fun enter() = semaphore.acquire()

        override suspend fun select(abandoned: CompletableDeferred<Unit>) = select {
            semaphore.onAcquire { true }
            abandoned.onAwait { false }
        }

        override fun future(): CompletableFuture<Permit> = java.acquire()

        override fun patientFuture(): CompletableFuture<Permit> = java.acquire(1, Priority.CRITICAL, Duration.ofDays(1))

        override fun block() {
            java.blocking().acquire()
        }

        override fun giveBack() = semaphore.release()
    }

    private inner class MutexLine : Line() {
        private val mutex = Mutex(locked = true)
        private val java = AsyncMutex.of(mutex)

        override val waiting
            get() = mutex.waiting

        override suspend fun enter() = mutex.lock()

        override suspend fun select(abandoned: CompletableDeferred<Unit>) = select {
            mutex.onLock(null) { true }
            abandoned.onAwait { false }
        }

        override fun future(): CompletableFuture<Permit> = java.lock()

        override fun patientFuture(): CompletableFuture<Permit> = java.ownedBy(Any()).lock(Duration.ofDays(1))

        override fun block() = java.blocking().lockInterruptibly()

        override fun giveBack() = mutex.unlock(mutex.holder)
    }

    private inner class WriteLine : Line() {
        private val lock = ReadWriteLock()
        private val java = AsyncReadWriteLock.of(lock)

        init {
            check(lock.tryLockWrite())
        }

        override val waiting
            get() = lock.waiting

        override suspend fun enter() = lock.lockWrite()

        override suspend fun select(abandoned: CompletableDeferred<Unit>) = select {
            lock.onWrite { true }
            abandoned.onAwait { false }
        }

        @Suppress("UNCHECKED_CAST") override fun future() = java.lockWrite() as CompletableFuture<Permit>

        @Suppress("UNCHECKED_CAST")
        override fun patientFuture() = java.ownedBy(Any()).lockWrite(Duration.ofDays(1)) as CompletableFuture<Permit>

        override fun block() = java.blocking().writeLock().lockInterruptibly()

        override fun giveBack() = lock.unlockWrite(lock.writeHolder)
    }

    private val kinds: List<Line.(Int) -> Waiter> =
        listOf(
            { coroutine(it) },
            { thread(it) },
            { clause(it, loses = false) },
            { clause(it, loses = true) },
            { number -> future(number) { it.cancel(false) } },
            { number -> future(number, patientFuture()) { it.cancel(false) } },
            { number -> future(number) { it.complete(null) } },
            { number -> future(number) { it.completeExceptionally(IllegalStateException("outside")) } },
        )

    /** Calls [test] once for each primitive and each combination of three kinds, with three waiters queued. */
    private fun forEachLine(test: Line.(List<Waiter>) -> Unit) {
        val lines: List<() -> Line> = listOf({ SemaphoreLine() }, { MutexLine() }, { WriteLine() })
        val combinations =
            kinds.flatMap { first -> kinds.flatMap { second -> kinds.map { listOf(first, second, it) } } }
        for (make in lines) {
            for (combination in combinations) {
                val line = make()
                val waiters = combination.mapIndexed { number, kind -> line.kind(number) }
                assertEquals(3, line.waiting)
                line.test(waiters)
            }
        }
    }

    @Test
    fun waiters_ofAllKindsInEveryCombination_areServedInOrderOfArrival() = forEachLine {
        for (turn in 0..2) {
            giveBack()
            assertServed((0..turn).toList())
            assertEquals(2 - turn, waiting)
        }
    }

    @Test
    fun waiters_whenAnyOneLeaves_keepTheirOrder() {
        for (leaver in 0..2) {
            forEachLine { waiters ->
                waiters[leaver].leave()
                assertEquals(2, waiting)
                assertEquals(emptyList<Int>(), served)
                val stay = (0..2).filter { it != leaver }
                for (turn in 1..2) {
                    giveBack()
                    assertServed(stay.take(turn))
                }
                giveBack()
            }
        }
    }

    @Test
    fun waiters_whenTwoLeaveInEitherOrder_leaveTheThird() {
        for ((first, second) in listOf(0 to 1, 1 to 0, 0 to 2, 2 to 0, 1 to 2, 2 to 1)) {
            forEachLine { waiters ->
                waiters[first].leave()
                waiters[second].leave()
                assertEquals(1, waiting)
                giveBack()
                assertServed(listOf(3 - first - second))
            }
        }
    }

    @Test
    fun coroutinesWithoutDispatcher_amongFutures_areAllResumedInOrder() {
        val semaphore = Semaphore(1, acquired = 1)
        val java = AsyncSemaphore.of(semaphore)
        val served = mutableListOf<Int>()
        val done = CompletableFuture<Unit>()
        for (i in 0 until 10_000) {
            if (i % 3 == 0) {
                java.acquire().thenAccept {
                    served += i
                    it.close()
                }
            } else {
                suspend {
                        semaphore.acquire()
                        served += i
                        semaphore.release()
                    }
                    .startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
            }
        }
        java.acquire().thenAccept {
            it.close()
            done.complete(Unit)
        }
        semaphore.release()
        Futures.await(done)
        assertEquals((0 until 10_000).toList(), served)
        assertTrue(java.awaitIdle().isDone)
        assertFalse(java.tryAcquire().isEmpty)
    }
}
