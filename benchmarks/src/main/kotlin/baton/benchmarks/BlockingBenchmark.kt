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

/** Threads that block, beside the fair locks of java.util.concurrent. */
open class BlockingBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton-semaphore", "juc-semaphore", "future-semaphore", "baton-lock", "juc-lock", "future-lock")
        lateinit var impl: String
        lateinit var door: Door

        @Setup
        fun create() {
            door = doorOf(impl)
        }
    }

    @Benchmark
    fun free(state: Free) {
        state.door.enter()
        state.door.leave()
    }

    @State(Scope.Benchmark)
    open class Queue {
        @Param("baton-semaphore", "juc-semaphore", "baton-lock", "juc-lock") lateinit var impl: String

        @Param("2", "1000") var threads = 0
        lateinit var door: Door

        @Setup
        fun create() {
            door = doorOf(impl)
        }
    }

    /**
     * Virtual threads that all enter and leave the same door, in a row. As in [Convoy], all of them queue before the
     * first one may enter; from then on nearly every one waits.
     */
    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        val door = state.door
        door.enter()
        val threads = virtualThreads()
        repeat(state.threads) {
            threads.execute {
                repeat(ACQUIRES / state.threads) {
                    door.enter()
                    door.leave()
                }
            }
        }
        while (door.queued < state.threads) Thread.onSpinWait()
        door.leave()
        threads.shutdown()
        check(threads.awaitTermination(1, TimeUnit.MINUTES))
    }

    /** One may be inside at a time. */
    interface Door {
        val queued: Int

        fun enter()

        fun leave()
    }

    private companion object {
        fun doorOf(impl: String): Door =
            when (impl) {
                "baton-semaphore" -> BatonPermit()
                "juc-semaphore" -> JucPermit()
                "future-semaphore" -> FuturePermit()
                "baton-lock" -> BatonLock()
                "juc-lock" -> JucLock()
                "future-lock" -> FutureLock()
                else -> throw IllegalArgumentException("impl = $impl")
            }
    }
}

private class BatonPermit : BlockingBenchmark.Door {
    private val semaphore = AsyncSemaphore.create(1)
    private val blocking = semaphore.blocking()
    private lateinit var held: Permit

    override val queued
        get() = semaphore.waiting()

    override fun enter() {
        held = blocking.acquire()
    }

    override fun leave() = held.close()
}

private class FuturePermit : BlockingBenchmark.Door {
    private val semaphore = AsyncSemaphore.create(1)
    private lateinit var held: Permit

    override val queued
        get() = semaphore.waiting()

    override fun enter() {
        held = semaphore.acquire().join()
    }

    override fun leave() = held.close()
}

private class JucPermit : BlockingBenchmark.Door {
    private val semaphore = JucSemaphore(1, true)

    override val queued
        get() = semaphore.queueLength

    override fun enter() = semaphore.acquire()

    override fun leave() = semaphore.release()
}

private class BatonLock : BlockingBenchmark.Door {
    private val mutex = AsyncMutex.create()
    private val lock = mutex.blocking()

    override val queued
        get() = mutex.waiting()

    override fun enter() = lock.lock()

    override fun leave() = lock.unlock()
}

private class FutureLock : BlockingBenchmark.Door {
    private val mutex = AsyncMutex.create()
    private lateinit var held: Permit

    override val queued
        get() = mutex.waiting()

    override fun enter() {
        held = mutex.lock(Thread.currentThread()).join()
    }

    override fun leave() = held.close()
}

private class JucLock : BlockingBenchmark.Door {
    private val lock = ReentrantLock(true)

    override val queued
        get() = lock.queueLength

    override fun enter() = lock.lock()

    override fun leave() = lock.unlock()
}
