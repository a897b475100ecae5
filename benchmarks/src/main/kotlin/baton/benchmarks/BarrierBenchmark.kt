package baton.benchmarks

import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

open class BarrierBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Meeting {
        @Param("baton", "arrow", "juc", "phaser") lateinit var impl: String

        @Param("2", "64") var parties = 0
        lateinit var rounds: Rounds

        @Setup
        fun create() {
            rounds = rounds(impl, parties)
        }

        @TearDown
        fun end() {
            rounds.close()
        }
    }

    /** All parties arrive and are released, once. */
    @Benchmark
    @OperationsPerInvocation(CYCLES)
    fun cycle(state: Meeting) {
        state.rounds.run(CYCLES)
    }
}

const val CYCLES: Int = 5_000
