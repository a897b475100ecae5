package baton.benchmarks

import baton.interop.AsyncMutex
import baton.interop.AsyncSemaphore
import baton.interop.Permit
import java.util.concurrent.Semaphore as JucSemaphore
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State

/** Threads that block: by Baton's views, by `join()` on its futures, by the fair locks of java.util.concurrent. */
open class BlockingBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton-semaphore", "juc-semaphore", "future-semaphore", "baton-lock", "juc-lock", "future-lock")
        lateinit var impl: String
        lateinit var lock: Exclusion

        @Setup
        fun create() {
            lock = exclusionOf(impl)
        }
    }

    @Benchmark
    fun uncontended(state: Free) {
        state.lock.acquire()
        state.lock.release()
    }

    @State(Scope.Benchmark)
    open class Queue {
        /** mcs-lock: a bare queue of threads that park, the least that a fair lock can do. */
        @Param("baton-semaphore", "juc-semaphore", "baton-lock", "juc-lock", "mcs-lock") lateinit var impl: String

        @Param("2", "1000") var threads = 0
        lateinit var lock: Exclusion

        @Setup
        fun create() {
            lock = exclusionOf(impl)
        }
    }

    /**
     * Virtual threads that each acquire and release the same lock again and again. As in [Convoy], all of them queue
     * before the first one gets it; from then on nearly every one waits.
     */
    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        val lock = state.lock
        lock.acquire()
        val threads = virtualThreads()
        repeat(state.threads) {
            threads.execute {
                repeat(ACQUIRES / state.threads) {
                    lock.acquire()
                    lock.release()
                }
            }
        }
        while (lock.queued < state.threads) Thread.onSpinWait()
        lock.release()
        threads.shutdown()
        check(threads.awaitTermination(2, TimeUnit.MINUTES))
    }

    /** One may hold it at a time. */
    interface Exclusion {
        val queued: Int

        fun acquire()

        fun release()
    }

    private companion object {
        fun exclusionOf(impl: String): Exclusion =
            when (impl) {
                "baton-semaphore" -> BatonPermit()
                "juc-semaphore" -> JucPermit()
                "future-semaphore" -> FuturePermit()
                "baton-lock" -> BatonLock()
                "juc-lock" -> JucLock()
                "future-lock" -> FutureLock()
                "mcs-lock" -> McsLock()
                else -> throw IllegalArgumentException("impl = $impl")
            }
    }
}

private class BatonPermit : BlockingBenchmark.Exclusion {
    private val semaphore = AsyncSemaphore.create(1)
    private val blocking = semaphore.blocking()
    private lateinit var held: Permit

    override val queued
        get() = semaphore.waiting()

    override fun acquire() {
        held = blocking.acquire()
    }

    override fun release() = held.close()
}

private class FuturePermit : BlockingBenchmark.Exclusion {
    private val semaphore = AsyncSemaphore.create(1)
    private lateinit var held: Permit

    override val queued
        get() = semaphore.waiting()

    override fun acquire() {
        held = semaphore.acquire().join()
    }

    override fun release() = held.close()
}

private class JucPermit : BlockingBenchmark.Exclusion {
    private val semaphore = JucSemaphore(1, true)

    override val queued
        get() = semaphore.queueLength

    override fun acquire() = semaphore.acquire()

    override fun release() = semaphore.release()
}

private class BatonLock : BlockingBenchmark.Exclusion {
    private val mutex = AsyncMutex.create()
    private val lock = mutex.blocking()

    override val queued
        get() = mutex.waiting()

    override fun acquire() = lock.lock()

    override fun release() = lock.unlock()
}

private class FutureLock : BlockingBenchmark.Exclusion {
    private val mutex = AsyncMutex.create()
    private lateinit var held: Permit

    override val queued
        get() = mutex.waiting()

    override fun acquire() {
        held = mutex.ownedBy(Thread.currentThread()).lock().join()
    }

    override fun release() = held.close()
}

private class JucLock : BlockingBenchmark.Exclusion {
    private val lock = ReentrantLock(true)

    override val queued
        get() = lock.queueLength

    override fun acquire() = lock.lock()

    override fun release() = lock.unlock()
}
