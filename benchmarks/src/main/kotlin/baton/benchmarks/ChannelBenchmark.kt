package baton.benchmarks

import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

open class ChannelBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Piped {
        @Param("baton", "kotlinx", "juc") lateinit var impl: String

        @Param("0", "64") var capacity = 0

        @Param("1to1", "4to1", "4to4") lateinit var shape: String
        lateinit var pipe: Pipe

        @Setup
        fun create() {
            val (senders, receivers) = shape.split("to").map { it.toInt() }
            pipe = pipe(impl, senders, receivers, capacity)
        }

        @TearDown
        fun end() {
            pipe.close()
        }
    }

    @State(Scope.Benchmark)
    open class Forked {
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var fork: Fork

        @Setup
        fun create() {
            fork = fork(impl)
        }
    }

    @State(Scope.Benchmark)
    open class Handed {
        /** kotlinx: with an `onUndeliveredElement` that sends the element again, behind all others. */
        @Param("baton", "kotlinx") lateinit var impl: String
        lateinit var handOver: HandOver

        @Setup
        fun create() {
            handOver = handOver(impl)
        }
    }

    /** An element is sent and received. */
    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    fun pass(state: Piped) {
        state.pipe.pass(ELEMENTS)
    }

    /** An element is sent on one of two channels and received by a select over both. */
    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    fun selectOfTwo(state: Forked) {
        state.fork.pass(ELEMENTS)
    }

    /** A receiver is handed an element and is cancelled before it runs; another receives the element. */
    @Benchmark
    fun handedToOneThatIsCancelled(state: Handed) {
        check(state.handOver.toOneThatIsCancelled()) { "lost" }
    }
}

const val ELEMENTS: Int = 10_000
