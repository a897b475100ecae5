package baton.scheduler

import baton.Priority
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The examples in the documentation of the classes. */
class ClassExamplesTest {
    private val done = mutableListOf<String>()

    private fun show(page: String) {
        done += page
    }

    private fun prefetch(): String = "prefetched".also { done += "prefetch" }

    @Test
    fun priorityDispatcher_example_showsThePageFirst() = runTest {
        val prioritized = StandardTestDispatcher(testScheduler).prioritized(parallelism = 2)
        launch(prioritized.level(Priority.LOW)) { prefetch() }
        launch(prioritized + Priority.HIGH) { show("page") }
        withPriority(Priority.CRITICAL) { launch(prioritized) { show("critical") } }
        testScheduler.runCurrent()
        assertEquals(listOf("critical", "page", "prefetch"), done)
    }

    @Test
    fun taskScheduler_example_showsThePrefetchedPage() = runTest {
        val scope: CoroutineScope = this
        val scheduler = TaskScheduler(scope, maxConcurrency = 3)
        val page = scheduler.schedule(Priority.LOW) { prefetch() }
        page.priority = Priority.HIGH // the user opened it
        show(page.await())
        assertEquals(listOf("prefetch", "prefetched"), done)
    }
}
