package baton.benchmarks

import java.util.concurrent.TimeUnit
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.BenchmarkMode
import org.openjdk.jmh.annotations.Fork
import org.openjdk.jmh.annotations.Measurement
import org.openjdk.jmh.annotations.Mode
import org.openjdk.jmh.annotations.OutputTimeUnit
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.Warmup

/**
 * The first use of a semaphore in a fresh JVM: the time includes the loading of its classes, and nothing is compiled
 * yet. Each fork is one sample.
 */
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(20)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
open class ColdStartBenchmark {
    @State(Scope.Benchmark)
    open class Fresh {
        @Param("baton", "kotlinx") lateinit var impl: String
    }

    /** A coroutine waits for the only permit, and gets it when another releases it; the coroutines count. */
    @Benchmark
    fun firstWaitingAcquire(state: Fresh) = runBlocking {
        val gate = semaphoreGate(state.impl, permits = 1)
        gate.acquire()
        launch(start = UNDISPATCHED) {
            gate.acquire()
            gate.release()
        }
        gate.release()
    }
}
