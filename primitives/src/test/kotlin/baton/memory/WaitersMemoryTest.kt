package baton.memory

import baton.channels.Channel
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import baton.waiting.Enough
import baton.waiting.contextsOfOnePlace
import baton.waiting.startIn
import java.lang.management.ManagementFactory
import java.lang.ref.WeakReference
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import kotlin.concurrent.thread
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class CancelledWaitersMemoryTest {
    /** For a thread's own time, in which it had the processor. */
    private val threads = ManagementFactory.getThreadMXBean()

    private fun park(semaphore: Semaphore): Job = park { semaphore.acquire() }

    private fun parkAndCancel(semaphore: Semaphore, count: Int, keepEvery: Int = Int.MAX_VALUE): List<Job> {
        val kept = ArrayList<Job>()
        val cancelled = ArrayList<Job>(count)
        repeat(count) { (if (it % keepEvery == keepEvery - 1) kept else cancelled) += park(semaphore) }
        cancelled.forEach { it.cancel(Enough) }
        return kept
    }

    @Test
    fun manyCancelledWaiters_leaveNoMemoryBehind() {
        val semaphore = Semaphore(1, acquired = 1)
        assertLeavesNothing(MANY) { parkAndCancel(semaphore, it) }
        assertEquals(0, semaphore.waiting)
    }

    @Test
    fun survivorsAmongCancelledWaiters_keepOnlyThemselvesAlive() {
        val alone = Semaphore(1, acquired = 1)
        val before = usedHeap()
        val survivors = List(1_000) { park(alone) }
        val bytesAlone = usedHeap() - before
        assertEquals(1_000, alone.waiting)

        val semaphore = Semaphore(1, acquired = 1)
        val start = usedHeap()
        val kept = parkAndCancel(semaphore, MANY, keepEvery = MANY / 1_000)
        val bytes = usedHeap() - start
        assertEquals(1_000, semaphore.waiting)
        assertTrue(bytes <= 256 * 1024 + 3 * maxOf(bytesAlone, 0), "$bytes bytes, alone $bytesAlone")
        (survivors + kept).forEach(Job::cancel)
        assertEquals(0, semaphore.waiting)
    }

    /**
     * Ten times the waiters take ten times the time, and no more: the last of a long line leaves as fast as the last of
     * a line a tenth as long. A short run and a long one cannot be set side by side for that: the long one has the
     * processor's caches and the collector against it. So one heap holds two equal sets of waiters, one on one
     * semaphore and one on ten, and the test cancels a block of each in turn; the median block feels no collection.
     */
    @Test
    fun cancelling_costsTheSameAtEveryPlace_andTheNextReleaseIsFast() {
        val semaphore = Semaphore(1, acquired = 1)
        val ten = List(10) { Semaphore(1, acquired = 1) }
        repeat(2) {
            val jobs = List(MANY / 10) { park(semaphore) }
            jobs.forEach { it.cancel(Enough) }
        }

        val long = ArrayList<Job>(MANY)
        val short = ArrayList<Job>(MANY)
        for (line in ten) {
            // Each in memory blocks of its own: cancelling the waiters of one must not bring the waiters of the other
            // into the processor's caches.
            repeat(MANY / 10 / BLOCK) {
                repeat(BLOCK) { long += park(semaphore) }
                repeat(BLOCK) { short += park(line) }
            }
        }
        assertEquals(MANY, semaphore.waiting)
        val nanosLong = ArrayList<Long>()
        val nanosShort = ArrayList<Long>()
        for (block in MANY - BLOCK downTo 0 step BLOCK) {
            if (block / BLOCK % 2 == 0) nanosLong += nanosToCancel(long, block)
            nanosShort += nanosToCancel(short, block)
            if (block / BLOCK % 2 == 1) nanosLong += nanosToCancel(long, block)
        }
        val ratio = median(nanosLong).toDouble() / median(nanosShort)
        assertTrue(ratio <= 1.2, "a waiter behind $MANY costs $ratio times one behind ${MANY / 10}")

        val start = threads.currentThreadCpuTime
        semaphore.release()
        val release = threads.currentThreadCpuTime - start
        assertTrue(release < 300_000, "the next release takes $release ns")
    }

    private fun nanosToCancel(jobs: List<Job>, from: Int): Long {
        val start = threads.currentThreadCpuTime
        for (i in from until from + BLOCK) jobs[i].cancel(Enough)
        return threads.currentThreadCpuTime - start
    }

    private fun median(values: List<Long>) = values.sorted()[values.size / 2]

    @Test
    fun idlePrimitives_retainNoUserObject() {
        val mutex = Mutex()
        val semaphore = Semaphore(1)
        val seen = used(mutex, semaphore)
        assertCollected(seen)
        assertEquals(false, mutex.isLocked)
        assertEquals(1, semaphore.availablePermits)
    }

    /** Held by an owner, waited for, handed over, and cancelled. In a function of its own: no local keeps anything. */
    private fun used(mutex: Mutex, semaphore: Semaphore): List<WeakReference<Any>> {
        val first = Any()
        val second = Any()
        check(mutex.tryLock(first))
        check(semaphore.tryAcquire())
        val handed =
            GlobalScope.launch(Dispatchers.Unconfined) {
                mutex.lock(second)
                semaphore.acquire()
                semaphore.release()
                mutex.unlock(second)
            }
        val cancelled = GlobalScope.launch(Dispatchers.Unconfined) { mutex.lock(Any()) }
        cancelled.cancel()
        mutex.unlock(first)
        semaphore.release()
        check(handed.isCompleted)
        return listOf(first, second, handed, cancelled).map(::WeakReference)
    }

    private companion object {
        private const val MANY = 300_000
        private const val BLOCK = 5_000
    }
}

class ConditionMemoryTest {
    private val mutex = Mutex()
    private val condition = mutex.newCondition()

    private class Payload

    /** Parks and returns: cancelled, signalled or both. In a function of its own: no local keeps anything. */
    private fun used(): List<WeakReference<Any>> =
        List(3) { kind ->
            val owner = Payload()
            val job = park { mutex.withLock(owner) { condition.await() } }
            check(mutex.tryLock())
            if (kind > 0) condition.signal()
            if (kind < 2) job.cancel(Enough)
            mutex.unlock()
            WeakReference<Any>(owner)
        }

    @Test
    fun idleCondition_retainsNoUserObject() {
        val seen = used()
        assertEquals("Condition (waiting = 0) of Mutex (free)", "$condition")
        assertCollected(seen)
    }

    @Test
    fun cancelledAmongOthers_leavesNothingBehind() {
        val (jobs, owners) = List(3) { waiting() }.unzip()
        jobs[1].cancel(Enough)
        assertEquals(2, condition.waiting)
        assertCollected(listOf(owners[1]))
        jobs.forEach { it.cancel(Enough) }
    }

    private fun waiting(): Pair<Job, WeakReference<Any>> {
        val owner = Payload()
        return park { mutex.withLock(owner) { condition.await() } } to WeakReference(owner)
    }
}

class JobHandlersMemoryTest {
    /** Each step of a coroutine runs on a thread of its own, which ends with the step. */
    private val threadForEachStep = Executor { step -> thread { step.run() } }.asCoroutineDispatcher()

    /**
     * The send returns normally, although its coroutine is cancelled: no later call of its job's handler frees
     * anything.
     */
    @Test
    fun sender_cancelledAfterItsElementWasTaken_isNotKeptByItsThread() {
        val executor = Executors.newSingleThreadExecutor()
        assertCollected(listOf(cancelAfterTake(executor)))
        executor.shutdown()
    }

    private fun cancelAfterTake(executor: ExecutorService): WeakReference<Job> {
        val channel = Channel<Any>()
        val ended = CountDownLatch(1)
        val job = park(executor.asCoroutineDispatcher()) { channel.send(Any()).also { ended.countDown() } }
        while (channel.waiting == 0) Thread.onSpinWait()
        val gate = CountDownLatch(1)
        executor.execute { gate.await() }
        assertTrue(channel.tryReceive().isSuccess)
        job.cancel()
        gate.countDown()
        ended.await()
        return WeakReference(job)
    }

    @Test
    fun longLivedCoroutine_waitsOnThreadsThatEnd_keepsNoHandlersOfItsJob() = runBlocking {
        val semaphore = Semaphore(1, acquired = 1)
        val waits = CountDownLatch(WARM_UP)
        val allWaits = CountDownLatch(WARM_UP + WAITS)
        val actor =
            launch(threadForEachStep) {
                while (true) {
                    semaphore.acquire()
                    // The next wait begins on another thread than this one ended on.
                    yield()
                    waits.countDown()
                    allWaits.countDown()
                }
            }

        fun letWait(counter: CountDownLatch) {
            while (counter.count > 0) if (semaphore.waiting > 0) semaphore.release() else Thread.yield()
        }
        letWait(waits)
        val before = usedHeap()
        letWait(allWaits)
        val after = usedHeap()
        actor.cancel()
        assertTrue(after - before < WAITS * BYTES, "${after - before} bytes for $WAITS waits")
    }

    @Test
    fun longLivedCoroutines_takeTheirPlaceFromEachOther_keepNoHandlersOfTheirJobs() {
        val semaphore = Semaphore(1, acquired = 1)
        val contexts = contextsOfOnePlace(Dispatchers.Unconfined)
        assertLeavesNothing(10 * WAITS) { waits ->
            repeat(waits) {
                for (context in contexts) {
                    suspend { semaphore.acquire() }.startIn(context)
                    semaphore.release()
                }
            }
        }
        assertEquals(List(2) { true }, contexts.map { it.job.isActive })
    }

    @Test
    fun finishedCoroutine_whoseWaiterIsCached_isCollected() {
        assertCollected(List(3) { finishAfterAWait() })
    }

    private fun finishAfterAWait(): WeakReference<Job> {
        val semaphore = Semaphore(1, acquired = 1)
        val job = GlobalScope.launch(Dispatchers.Unconfined) { semaphore.acquire() }
        semaphore.release()
        assertTrue(job.isCompleted)
        return WeakReference(job)
    }

    private companion object {
        const val WARM_UP = 500
        const val WAITS = 5_000

        /** A handler has some 200. */
        const val BYTES = 40
    }
}
