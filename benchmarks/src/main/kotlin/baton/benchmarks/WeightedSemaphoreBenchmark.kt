package baton.benchmarks

import baton.sync.Semaphore as BatonSemaphore
import java.util.concurrent.Semaphore as JucSemaphore
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

open class WeightedSemaphoreBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "juc") lateinit var impl: String
        lateinit var gate: Gate

        @Setup
        fun create() {
            gate = semaphoreGate(impl, permits = 8, weight = 3)
        }
    }

    @Benchmark
    fun uncontended(state: Free) {
        Calls.acquireFree(state.gate)
        state.gate.release()
    }

    /** Weights 1, 2, 3 of 4 permits. juc: the same with virtual threads, first come, first served as well. */
    @State(Scope.Benchmark)
    open class Queue {
        @Param("baton", "juc") lateinit var impl: String
        private var convoy: Convoy? = null
        private var threads: VirtualConvoy? = null

        @Setup
        fun create() {
            if (impl == "juc") {
                val semaphore = JucSemaphore(PERMITS, true)
                val riders = List(RIDERS) { JucGate(semaphore, weightOf(it)) }
                threads = VirtualConvoy(riders, listOf(JucGate(semaphore, PERMITS)), semaphore::getQueueLength)
            } else {
                require(impl == "baton") { "impl = $impl" }
                val semaphore = BatonSemaphore(PERMITS)
                val riders = List(RIDERS) { BatonGate(semaphore, weightOf(it)) }
                convoy = Convoy(riders, lids = listOf(BatonGate(semaphore, PERMITS)))
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

    private companion object {
        const val PERMITS = 4
        const val RIDERS = 1_000

        fun weightOf(rider: Int) = 1 + rider % 3
    }
}
