package baton.benchmarks

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
        @Param("baton", "kotlinx") lateinit var impl: String

        @Param("2", "1000") var coroutines = 0
        lateinit var convoy: Convoy

        @Setup
        fun create() {
            val gate = mutexGate(impl)
            convoy = Convoy(riders = List(coroutines) { gate }, lids = listOf(gate))
        }

        @TearDown(Level.Iteration)
        fun check() {
            convoy.checkThatAcquiresSuspended()
        }
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        state.convoy.loop(ACQUIRES)
    }
}
