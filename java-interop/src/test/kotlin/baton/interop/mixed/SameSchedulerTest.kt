package baton.interop.mixed

import baton.Priority
import baton.interop.AsyncTaskScheduler
import baton.interop.TaskOptions
import baton.scheduler.TaskScheduler
import java.util.concurrent.Callable
import java.util.concurrent.CompletableFuture
import java.util.function.Supplier
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

/** Java tasks and coroutines share the queue of one scheduler. */
class SameSchedulerTest {
    @Test
    fun tasks_ofBothLanguages_standInOneQueue() = runTest {
        val kotlin = TaskScheduler(this, maxConcurrency = 1)
        val java = AsyncTaskScheduler.of(kotlin, Runnable::run)
        assertSame(kotlin, java.kotlin())
        val begun = ArrayList<String>()
        val first = CompletableFuture<String>()
        java.schedule(Priority.LOW, Supplier { first })
        val low =
            java.schedule(
                Priority.LOW,
                Supplier {
                    begun += "java, low"
                    CompletableFuture.completedFuture("done")
                },
            )
        val high = kotlin.schedule(Priority.HIGH) { begun += "kotlin, high" }
        java.schedule(
            TaskOptions.of(Priority.CRITICAL).withExecutor(Runnable::run),
            Callable { begun += "java, critical" },
        )
        kotlin.schedule(Priority.IDLE) { begun += "kotlin, idle" }
        assertEquals(4, kotlin.metrics.queued)
        first.complete("first")
        high.await()
        kotlin.drain()
        assertEquals(listOf("java, critical", "kotlin, high", "java, low", "kotlin, idle"), begun)
        assertEquals("done", low.join())
    }
}
