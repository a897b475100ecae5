package baton.benchmarks

import baton.monitoring.Monitor
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.sync.Semaphore
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.launch
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

/**
 * The cost of monitoring: the same semaphore watched by a [Monitor] that looks every 500 ms, or not. That an object
 * which is not watched costs what it did before, only a build of before can show.
 */
open class MonitoringBenchmark : BatonBenchmark() {
    /** [impl] says whether it is watched. */
    @State(Scope.Benchmark)
    abstract class Watched {
        @Param("baton", "baton-watched") lateinit var impl: String
        private lateinit var monitor: Monitor

        protected fun watchIfAsked(source: Monitored) {
            monitor = Monitor(CoroutineScope(Dispatchers.Default + Job()))
            if (impl == "baton-watched") monitor.watch(source)
        }

        protected fun close() {
            monitor.close()
        }
    }

    @State(Scope.Benchmark)
    open class Free : Watched() {
        lateinit var gate: Gate

        @Setup
        fun create() {
            val semaphore = Semaphore(2)
            gate = BatonGate(semaphore, weight = 1)
            watchIfAsked(semaphore)
        }

        @TearDown
        fun end() {
            close()
        }
    }

    @Benchmark
    fun uncontended(state: Free) {
        Calls.acquireFree(state.gate)
        state.gate.release()
    }

    @State(Scope.Benchmark)
    open class Queue : Watched() {
        @Param("2", "1000") var coroutines = 0
        lateinit var convoy: Convoy

        @Setup
        fun create() {
            val semaphore = Semaphore(1)
            val gate = BatonGate(semaphore, weight = 1)
            convoy = Convoy(riders = List(coroutines) { gate }, lids = listOf(gate))
            watchIfAsked(semaphore)
        }

        @TearDown(Level.Iteration)
        fun check() {
            convoy.checkThatAcquiresSuspended()
        }

        @TearDown
        fun end() {
            close()
        }
    }

    @Benchmark
    @OperationsPerInvocation(ACQUIRES)
    fun convoy(state: Queue) {
        state.convoy.loop(ACQUIRES)
    }

    @State(Scope.Benchmark)
    open class Looks {
        @Param("baton") lateinit var impl: String

        @Param("0", "1000") var waiters = 0
        private val semaphore = Semaphore(1, acquired = 1)
        private val scope = CoroutineScope(Dispatchers.Unconfined + Job())

        @Setup
        fun queue() {
            repeat(waiters) { scope.launch { runCatching { semaphore.acquire() } } }
        }

        @TearDown
        fun end() {
            semaphore.close()
        }

        fun look(): Usage = semaphore.usage()
    }

    /** One look, of which a monitor takes one every 500 ms. */
    @Benchmark fun look(state: Looks): Usage = state.look()
}
