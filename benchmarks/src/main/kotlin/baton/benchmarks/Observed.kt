package baton.benchmarks

import java.util.concurrent.ConcurrentHashMap
import org.openjdk.jmh.infra.BenchmarkParams
import org.openjdk.jmh.infra.IterationParams
import org.openjdk.jmh.profile.InternalProfiler
import org.openjdk.jmh.results.AggregationPolicy
import org.openjdk.jmh.results.IterationResult
import org.openjdk.jmh.results.Result
import org.openjdk.jmh.results.ScalarResult

/**
 * Puts values that a benchmark has observed besides its time into its result, as secondary metrics: how many acquires
 * waited, say. `-prof baton.benchmarks.Observed`; a benchmark [notes][note] before the end of its iteration.
 */
class Observed : InternalProfiler {
    override fun getDescription(): String = "Values that benchmarks observe besides their time"

    override fun beforeIteration(benchmark: BenchmarkParams, iteration: IterationParams) {
        notes.clear()
    }

    override fun afterIteration(
        benchmark: BenchmarkParams,
        iteration: IterationParams,
        result: IterationResult,
    ): Collection<Result<*>> =
        notes.map { (name, note) -> ScalarResult("observed.$name", note.value, note.unit, AggregationPolicy.AVG) }

    private class Note(val value: Double, val unit: String)

    companion object {
        private val notes = ConcurrentHashMap<String, Note>()

        /** The last note of a [name] in an iteration counts. */
        fun note(name: String, value: Double, unit: String) {
            notes[name] = Note(value, unit)
        }
    }
}
