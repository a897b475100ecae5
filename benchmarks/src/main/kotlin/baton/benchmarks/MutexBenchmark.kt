package baton.benchmarks

import java.util.concurrent.locks.ReentrantLock
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown
import org.openjdk.jmh.annotations.Threads

open class MutexBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "baton-owner", "kotlinx", "kotlinx-owner", "juc") lateinit var impl: String
        lateinit var gate: Gate

        @Setup
        fun create() {
            gate = mutexGate(impl)
        }
    }

    @Benchmark
    fun uncontended(state: Free) {
        Calls.acquireFree(state.gate)
        state.gate.release()
    }

    @State(Scope.Benchmark)
    open class Shared {
        @Param("baton", "kotlinx", "juc") lateinit var impl: String
        lateinit var gate: Gate

        @Setup
        fun create() {
            gate = mutexGate(impl)
        }
    }

    /** Two threads that never suspend: a thread that finds the mutex locked tries again. */
    @Benchmark
    @Threads(2)
    @Suppress("UNUSED_PARAMETER")
    fun twoThreads(state: Shared, processor: Processor) {
        while (!state.gate.tryAcquire()) Thread.onSpinWait()
        state.gate.release()
    }

    @State(Scope.Benchmark)
    open class Queue {
        /** juc-virtual: a fair ReentrantLock and virtual threads. */
        @Param("baton", "kotlinx") lateinit var impl: String

        @Param("2", "1000") var coroutines = 0
        private var convoy: Convoy? = null
        private var threads: VirtualConvoy? = null

        @Setup
        fun create() {
            if (impl == "juc-virtual") {
                val lock = ReentrantLock(true)
                val gate = JucLockGate(lock)
                threads = VirtualConvoy(List(coroutines) { gate }, listOf(gate), lock::getQueueLength)
            } else {
                val gate = mutexGate(impl)
                convoy = Convoy(riders = List(coroutines) { gate }, lids = listOf(gate))
            }
        }

        fun ride() {
            convoy?.loop(ACQUIRES)
            threads?.loop(ACQUIRES)
        }

        @TearDown(Level.Iteration)
        fun check() {
            convoy?.checkThatAcquiresSuspended()
        }

        @TearDown
        fun close() {
            threads?.close()
        }
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        state.ride()
    }
}
