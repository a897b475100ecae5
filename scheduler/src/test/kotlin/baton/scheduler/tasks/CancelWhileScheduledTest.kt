package baton.scheduler.tasks

import baton.Priority.NORMAL
import baton.scheduler.TaskScheduler
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.bridge.StageTask
import baton.scheduler.bridge.newStageTask
import kotlin.concurrent.thread
import kotlin.time.Duration
import kotlin.time.TimeMark
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A scope is cancelled while a task is scheduled in it that begins on the scheduling thread. The task's code ran before
 * that thread looked at the scope again, and a task that waited for its cancellation did so for ever.
 */
class CancelWhileScheduledTest {
    private val job = Job()
    private val clock = CancellingClock()
    private val scheduler =
        TaskScheduler(CoroutineScope(Dispatchers.Unconfined + job), 1, config = TaskSchedulerConfig(timeSource = clock))
    private val ran = ArrayList<String>()

    /** Another thread cancels the tasks of the scope while a step reads the time. */
    private inner class CancellingClock : TimeSource {
        var isArmed = false

        override fun markNow(): TimeMark {
            val start = TimeSource.Monotonic.markNow()
            return object : TimeMark {
                override fun elapsedNow(): Duration {
                    if (isArmed) thread { job.cancelChildren() }.join()
                    isArmed = false
                    return start.elapsedNow()
                }
            }
        }
    }

    private fun assertAtRest() {
        assertTrue(job.children.none())
        assertEquals(0, scheduler.metrics.queued + scheduler.metrics.running)
    }

    @Test
    fun coroutine_thatBeginsInPlace_isCancelledBeforeItsCodeRuns() {
        clock.isArmed = true
        val task = scheduler.schedule { ran += "never" }
        assertTrue(task.isCancelled)
        assertEquals(emptyList<String>(), ran)
        assertAtRest()
    }

    @Test
    fun taskOfTheJavaApi_isCancelledBeforeItBegins() {
        lateinit var task: StageTask
        val owner =
            object : StageTask.Owner {
                override fun begin() {
                    ran += "begun"
                }

                override fun refused(cause: Throwable) {
                    ran += "refused"
                }

                override fun cancelled(cause: Throwable) {
                    ran += "cancelled"
                    task.withdraw()
                }
            }
        task = newStageTask(scheduler, NORMAL, null, owner)
        clock.isArmed = true
        task.submit()
        assertEquals("cancelled", ran.first())
        assertAtRest()
    }
}
