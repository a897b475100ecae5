package baton.benchmarks

import arrow.fx.coroutines.parMap
import baton.parallel.mapLimit
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.flow.flatMapMerge
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.OperationsPerInvocation
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State

/** A list is mapped, a bounded number of elements at a time, on the default dispatcher. Time and bytes per element. */
@OptIn(ExperimentalCoroutinesApi::class)
open class MapLimitBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Elements {
        /**
         * Arrow's starts a coroutine for each element. The other three make flows: ours, ours that does not keep the
         * order, and the one of kotlinx.coroutines, which does not keep it either.
         */
        @Param("baton", "arrow", "baton-flow", "baton-flow-unordered", "flatMapMerge") lateinit var impl: String

        /** The transforms of the benchmark. */
        @Param("returns", "yields") lateinit var body: String

        private val numbers = List(ELEMENTS) { it }
        private lateinit var transform: suspend (Int) -> Int

        @Setup
        fun create() {
            transform = if (body == "returns") { i -> i + 1 } else { i -> yield().let { i + 1 } }
        }

        suspend fun map(): List<Int> =
            when (impl) {
                "baton" -> numbers.mapLimit(LIMIT, transform = transform)
                "arrow" -> numbers.parMap(concurrency = LIMIT) { transform(it) }
                "baton-flow" -> numbers.asFlow().mapLimit(LIMIT, transform = transform).toList()
                "baton-flow-unordered" ->
                    numbers.asFlow().mapLimit(LIMIT, ordered = false, transform = transform).toList()
                "flatMapMerge" -> numbers.asFlow().flatMapMerge(LIMIT) { flow { emit(transform(it)) } }.toList()
                else -> throw IllegalArgumentException("impl = $impl")
            }
    }

    @Benchmark
    @OperationsPerInvocation(ELEMENTS)
    fun map(elements: Elements): Int =
        runBlocking(Dispatchers.Default) { elements.map() }.size.also { check(it == ELEMENTS) }

    private companion object {
        const val ELEMENTS = 10_000
        const val LIMIT = 8
    }
}
