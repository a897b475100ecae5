package baton.scheduler.tasks

import baton.scheduler.TaskScheduler
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A scope is cancelled while a task is scheduled in it that begins on the scheduling thread. The task's code ran before
 * that thread looked at the scope again, and a task that waited for its cancellation did so for ever.
 */
@OptIn(InternalForInheritanceCoroutinesApi::class)
class CancelWhileScheduledTest {
    private val job = Job()
    private val scope = CancelledOnTheWay()
    private val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Unconfined + scope), 1)
    private val ran = ArrayList<String>()

    /** Another thread cancels the tasks of the scope when a step asks whether it is active. */
    private inner class CancelledOnTheWay : Job by job {
        var isArmed = false

        override val isActive: Boolean
            get() {
                if (isArmed && job.children.any()) {
                    isArmed = false
                    thread { job.cancelChildren() }.join()
                }
                return job.isActive
            }

        // In a context it stands for itself.

        override fun <E : CoroutineContext.Element> get(key: CoroutineContext.Key<E>): E? = super<Job>.get(key)

        override fun <R> fold(initial: R, operation: (R, CoroutineContext.Element) -> R): R =
            super<Job>.fold(initial, operation)

        override fun minusKey(key: CoroutineContext.Key<*>): CoroutineContext = super<Job>.minusKey(key)
    }

    private fun assertAtRest() {
        assertTrue(job.children.none())
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.running)
    }

    @Test
    fun coroutine_thatBeginsInPlace_isCancelledBeforeItsCodeRuns() {
        scope.isArmed = true
        val task = scheduler.schedule { ran += "never" }
        assertTrue(task.isCancelled)
        assertEquals(emptyList<String>(), ran)
        assertAtRest()
    }

    @Test
    fun taskOfTheJavaApi_isCancelledBeforeItBegins() {
        scope.isArmed = true
        scheduler.addStage(ran) { it.withdraw() }
        assertEquals("cancelled", ran.first())
        assertAtRest()
    }
}
