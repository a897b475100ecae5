package baton.benchmarks

import baton.interop.CancellableFuture
import java.util.concurrent.CompletableFuture
import java.util.concurrent.Executor
import java.util.function.Function
import java.util.function.Supplier
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.State

/** What it costs that a cancel at the end of a chain of futures reaches the function at its beginning. */
open class CancelChainBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Chain {
        /** cf: CompletableFuture itself, whose cancel ends the last stage and nothing else; its function still runs. */
        @Param("baton", "cf")
        lateinit var impl: String

        /** How many stages are derived, one from the other. */
        @Param("1", "10", "100")
        var length = 0
        private val executor = Later()
        private val next = Function<Int, Int> { it + 1 }

        fun build(): CompletableFuture<Int> {
            var last: CompletableFuture<Int> =
                when (impl) {
                    "baton" -> CancellableFuture.supply(executor) { 0 }
                    "cf" -> CompletableFuture.supplyAsync(Supplier { 0 }, executor)
                    else -> throw IllegalArgumentException("impl = $impl")
                }
            repeat(length) { last = last.thenApply(next) }
            return last
        }

        fun run() = executor.task.run()
    }

    /** Keeps what it is given. */
    private class Later : Executor {
        lateinit var task: Runnable

        override fun execute(command: Runnable) {
            task = command
        }
    }

    /** Build the chain and run the function. */
    @Benchmark
    fun complete(chain: Chain): Int {
        val last = chain.build()
        chain.run()
        return last.join()
    }

    /** Build the chain and cancel its end. */
    @Benchmark
    fun cancel(chain: Chain): CompletableFuture<Int> {
        val last = chain.build()
        check(last.cancel(true)) { "was done" }
        return last
    }
}
