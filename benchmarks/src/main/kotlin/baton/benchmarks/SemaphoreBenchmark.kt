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

open class SemaphoreBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "kotlinx", "juc") lateinit var impl: String
        lateinit var gate: Gate

        @Setup
        fun create() {
            gate = semaphoreGate(impl, permits = 2)
        }
    }

    @Benchmark
    fun uncontended(state: Free) {
        Calls.acquireFree(state.gate)
        state.gate.release()
    }

    /** Two threads and two permits: the threads contend for the counter, but neither waits. */
    @Benchmark
    @Threads(2)
    @Suppress("UNUSED_PARAMETER")
    fun twoThreads(state: Free, processor: Processor) {
        Calls.acquireFree(state.gate)
        state.gate.release()
    }

    @State(Scope.Benchmark)
    open class Timed {
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var gate: Gate

        @Setup
        fun create() {
            gate = semaphoreGate(impl, permits = 2)
        }
    }

    /** An acquire with a timeout, while a permit is free. */
    @Benchmark
    fun timedUncontended(state: Timed) {
        Calls.acquireFreeInTime(state.gate)
        state.gate.release()
    }

    @State(Scope.Benchmark)
    open class Queue {
        @Param("baton", "baton-unfair", "kotlinx") lateinit var impl: String

        /** Coroutines x permits. */
        @Param("2x1", "1000x1", "1000x8") lateinit var shape: String
        lateinit var convoy: Convoy

        @Setup
        fun create() {
            val (coroutines, permits) = shape.split('x').map(String::toInt)
            val gate = semaphoreGate(impl, permits)
            convoy = Convoy(riders = List(coroutines) { gate }, lids = List(permits) { gate })
        }

        @TearDown(Level.Iteration)
        fun check() {
            // The unfair semaphore is fast because its acquires seldom wait.
            if (impl != "baton-unfair") convoy.checkThatAcquiresSuspended()
        }
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        state.convoy.loop(ACQUIRES)
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoyOneShotFrames(state: Queue) {
        state.convoy.loopOneShotFrames(ACQUIRES)
    }

    @State(Scope.Benchmark)
    open class LaunchQueue {
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var convoy: Convoy

        @Setup
        fun create() {
            val gate = semaphoreGate(impl, permits = 1)
            convoy = Convoy(riders = listOf(gate), lids = listOf(gate))
        }

        @TearDown(Level.Iteration)
        fun check() {
            convoy.checkThatAcquiresSuspended()
        }
    }

    /** One coroutine for each acquire; its launch counts. */
    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun oneShot(state: LaunchQueue) {
        state.convoy.oneShot(ACQUIRES)
    }
}

const val ACQUIRES: Int = 100_000
