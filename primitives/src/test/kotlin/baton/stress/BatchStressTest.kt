package baton.stress

import baton.batch.BatchProcessor
import baton.batch.ConcurrencyConfig
import java.util.concurrent.atomic.AtomicInteger
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class BatchStressTest : Stress() {
    /**
     * The first failure reaches the bound; the tasks that fail with it must not go on before it has stopped the batch.
     */
    @Test
    fun tasks_thatFailTogether_areTheLastOnes() {
        val batch = BatchProcessor(ConcurrencyConfig(maxConcurrentTasks = LIMIT))
        stress(batch) {
            repeat(5_000) {
                val begun = AtomicInteger()
                val report =
                    batch.process((1..ITEMS).toList(), maxFailures = 1) {
                        begun.incrementAndGet()
                        repeat(100) { if (begun.get() < LIMIT) yield() }
                        error("it fails")
                    }
                assertTrue(report.failed.size in 1..LIMIT, "$report")
            }
        }
    }

    private companion object {
        const val LIMIT = 3
        const val ITEMS = 10
    }
}
