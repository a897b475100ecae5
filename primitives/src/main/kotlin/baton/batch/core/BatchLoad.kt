package baton.batch.core

import baton.batch.ConcurrencyConfig
import baton.monitoring.Usage
import baton.monitoring.usageOf
import java.util.concurrent.atomic.AtomicInteger

/** How many items the calls of a `BatchProcessor` are at work on. */
internal class BatchLoad(private val config: ConcurrencyConfig) {
    private val atWork = AtomicInteger()

    private val bounds = config.monitoring.alertBounds()

    inline fun <V> count(item: () -> V): V {
        if (!config.monitoring.enableMetrics) return item()
        atWork.incrementAndGet()
        try {
            return item()
        } finally {
            atWork.decrementAndGet()
        }
    }

    fun usage(): Usage {
        val capacity = config.maxConcurrentTasks.toLong()
        return usageOf(atWork.get().toLong(), capacity, bounds)
    }
}
