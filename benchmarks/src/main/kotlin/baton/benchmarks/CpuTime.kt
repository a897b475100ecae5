package baton.benchmarks

import com.sun.management.OperatingSystemMXBean
import java.lang.management.ManagementFactory
import org.openjdk.jmh.infra.BenchmarkParams
import org.openjdk.jmh.infra.IterationParams
import org.openjdk.jmh.profile.InternalProfiler
import org.openjdk.jmh.results.AggregationPolicy
import org.openjdk.jmh.results.IterationResult
import org.openjdk.jmh.results.Result
import org.openjdk.jmh.results.ScalarResult

/**
 * CPU time of the whole process per operation: `-prof baton.benchmarks.CpuTime`. Steadier than wall time on a busy
 * machine, and it shows work done on other threads. Includes the collector and the compiler.
 */
class CpuTime : InternalProfiler {
    private val process = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean::class.java)
    private var start = 0L

    override fun getDescription(): String = "CPU time of the process per operation"

    override fun beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams) {
        start = process.processCpuTime
    }

    override fun afterIteration(
        benchmark: BenchmarkParams,
        iteration: IterationParams,
        result: IterationResult,
    ): Collection<Result<*>> {
        val cpu = process.processCpuTime - start
        val operations = result.metadata.allOps
        if (operations == 0L) return emptyList()
        return listOf(ScalarResult("cpu.norm", cpu.toDouble() / operations, "ns/op", AggregationPolicy.AVG))
    }
}
