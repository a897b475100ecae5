package baton.benchmarks

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.job
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.BenchmarkMode
import org.openjdk.jmh.annotations.Level
import org.openjdk.jmh.annotations.Measurement
import org.openjdk.jmh.annotations.Mode
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown
import org.openjdk.jmh.annotations.Warmup

open class CancellationBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Deep {
        @Param("baton", "kotlinx") lateinit var impl: String

        /** The number of waiters ahead of the cancelled one. */
        @Param("0", "1000") var ahead = 0
        lateinit var gate: Gate
        private val others = CoroutineScope(Dispatchers.Default + Job())

        @Setup
        fun fill() {
            gate = semaphoreGate(impl, permits = 1)
            Calls.acquireFree(gate)
            repeat(ahead) { others.waitFor(gate) }
        }

        @TearDown
        fun leave() {
            runBlocking { others.coroutineContext.job.cancelAndJoin() }
        }
    }

    /** The whole life of a cancelled waiter: a coroutine is launched, waits, is cancelled and completes. */
    @Benchmark
    @OperationsPerInvocation(CANCELLED)
    fun cancelDeep(state: Deep) {
        runBlocking {
            repeat(CANCELLED) {
                val waiter = waitFor(state.gate)
                waiter.cancel()
                waiter.join()
            }
        }
    }

    @State(Scope.Benchmark)
    open class WaiterBatch {
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var gate: Gate

        @Setup(Level.Invocation)
        fun leave() {
            gate = semaphoreGate(impl, permits = 1)
            Calls.acquireFree(gate)
            runBlocking {
                val waiters = List(CROWD) { waitFor(gate) }
                waiters.forEach { it.cancel() }
                waiters.joinAll()
            }
        }

        @TearDown(Level.Invocation)
        fun check() {
            check(gate.tryAcquire()) { "what was released is not free" }
        }
    }

    /** One release after all waiters have been cancelled. */
    @Benchmark
    @BenchmarkMode(Mode.SingleShotTime)
    @Warmup(iterations = 10)
    @Measurement(iterations = 15)
    fun releaseAfterMassCancel(state: WaiterBatch) {
        state.gate.release()
    }

    private companion object {
        const val CANCELLED = 1_000
        const val CROWD = 100_000

        fun CoroutineScope.waitFor(gate: Gate): Job {
            val waiter = launch(start = UNDISPATCHED) { gate.acquire() }
            check(waiter.isActive) { "did not have to wait" }
            return waiter
        }
    }
}
