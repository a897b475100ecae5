package baton.benchmarks

import java.util.concurrent.Semaphore as JucSemaphore
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
        /** juc-virtual: a fair semaphore of java.util.concurrent and virtual threads. */
        @Param("baton", "baton-unfair", "kotlinx") lateinit var impl: String

        /** Coroutines x permits. */
        @Param("2x1", "1000x1", "1000x8") lateinit var shape: String

        /** Whether the JVM has used other locks before, as an application has. */
        @Param("false") var polluted = false
        private var coroutines: Convoy? = null
        private var threads: VirtualConvoy? = null

        @Setup
        fun create() {
            if (polluted) Pollution.run()
            val (riders, permits) = shape.split('x').map(String::toInt)
            if (impl == "juc-virtual") {
                val semaphore = JucSemaphore(permits, true)
                val gate = JucGate(semaphore, weight = 1)
                threads = VirtualConvoy(List(riders) { gate }, List(permits) { gate }, semaphore::getQueueLength)
            } else {
                val gate = semaphoreGate(impl, permits)
                coroutines = Convoy(riders = List(riders) { gate }, lids = List(permits) { gate })
            }
        }

        fun ride() {
            coroutines?.loop(ACQUIRES)
            threads?.loop(ACQUIRES)
        }

        fun rideHolding() {
            coroutines?.loopHolding(ACQUIRES)
            threads?.loopHolding(ACQUIRES)
        }

        fun rideInOneShotFrames() = checkNotNull(coroutines).loopOneShotFrames(ACQUIRES)

        fun rideTimed(times: WaitTimes) = checkNotNull(coroutines).loopTimed(ACQUIRES, times)

        @TearDown(Level.Iteration)
        fun check() {
            // The unfair semaphore is fast because its acquires seldom wait.
            if (impl != "baton-unfair") coroutines?.checkThatAcquiresSuspended()
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

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoyHolding(state: Queue) {
        state.rideHolding()
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoyOneShotFrames(state: Queue) {
        state.rideInOneShotFrames()
    }

    @State(Scope.Benchmark)
    open class Times {
        val times = WaitTimes(ACQUIRES)

        @Setup(Level.Invocation) fun clear() = times.clear()

        @TearDown(Level.Invocation) fun note() = times.note()
    }

    /** How long each acquire waits, and how many each coroutine gets; its time is of no interest. */
    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoyTimes(state: Queue, times: Times) {
        state.rideTimed(times.times)
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
