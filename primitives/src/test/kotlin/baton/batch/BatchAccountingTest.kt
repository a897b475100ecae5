package baton.batch

import baton.resilience.Backoff
import baton.resilience.RetryPolicy
import java.io.IOException
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.asFlow
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BatchAccountingTest {
    /** Other tests of this JVM may have filled the heap. */
    private val anyHeap = ConcurrencyConfig.Memory(maxHeapUsageMB = Int.MAX_VALUE, gcThresholdPercent = 100)

    @Test
    fun itemsWithFailuresRetriesAndStops_areEachAccountedForOnce() = runBlocking {
        val policy =
            RetryPolicy(maxAttempts = 2, backoff = Backoff.constant(Duration.ZERO), retryIf = { it is IOException })
        for (seed in 0 until SEEDS) {
            val random = Random(seed)
            val items = if (seed == SEEDS - 1) 20_000 else random.nextInt(1, 3_000)
            val maxFailures = if (seed % 3 == 0 || seed == SEEDS - 1) Int.MAX_VALUE else random.nextInt(1, 200)
            val config = ConcurrencyConfig(random.nextInt(1, 12), random.nextInt(1, 60), memory = anyHeap)
            val fate = IntArray(items + 1) { random.nextInt(10) }
            val pulled = ConcurrentLinkedQueue<Int>()
            val handed = ArrayList<Int>()
            val onResult: suspend (Int, Unit) -> Unit = { item, _ ->
                if (fate[item] == 4) throw IOException()
                handed += item
            }
            val task: suspend (Int) -> Unit = { item ->
                if (item % 3 == 0) yield()
                if (fate[item] < 3) throw if (fate[item] == 0) IllegalStateException() else IOException()
            }
            val seen = (1..items).asSequence().onEach { pulled += it }
            val processor = BatchProcessor(config, policy)
            val report =
                withContext(Dispatchers.Default) {
                    withTimeout(2.minutes) {
                        if (seed % 2 == 0) processor.process(seen.asIterable(), onResult, maxFailures, task = task)
                        else processor.process(seen.asFlow(), onResult, maxFailures, task = task)
                    }
                }
            val accounted = handed + report.failed.map { it.item } + report.notStarted
            assertEquals(pulled.sorted(), accounted.sorted(), "seed $seed: $report")
            assertEquals(handed.size.toLong(), report.succeeded, "seed $seed: $report")
            if (maxFailures == Int.MAX_VALUE) assertTrue(report.notStarted.isEmpty(), "seed $seed: $report")
            if (seed % 2 == 0) assertEquals(items, pulled.size, "seed $seed: $report")
        }
    }

    private companion object {
        const val SEEDS = 30
    }
}
