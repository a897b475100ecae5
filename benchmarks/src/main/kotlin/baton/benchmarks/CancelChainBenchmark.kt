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

/** The cost of propagating a cancel from the end of a chain of futures to the function at its beginning. */
open class CancelChainBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Chain {
        /** cf: CompletableFuture itself, whose cancel ends only the last stage; its function still runs. */
        @Param("baton", "cf") lateinit var impl: String

        /** The number of stages derived one from another. */
        @Param("1", "10", "100") var length = 0
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

    /** Keeps the function that it is given. */
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
