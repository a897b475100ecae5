package baton.scheduler

import baton.waiting.OtherKotlinx
import baton.waiting.messageOf
import java.util.concurrent.Callable
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** When kotlinx.coroutines lacks a part, the scheduler's code that needs the part refuses, and other code works. */
class OtherKotlinxSchedulerTest {
    private class Tasks : Callable<String> {
        override fun call(): String = runBlocking {
            val scheduler = TaskScheduler(this, 1)
            val refusals = List(2) { messageOf { scheduler.run {} } }
            val dispatched = withContext(Dispatchers.Default.prioritized(1)) { "dispatched" }
            "${refusals.toSet().single()}; ${scheduler.metrics.queued}; $dispatched"
        }
    }

    @Test
    fun member_ofCoroutinesIsMissing_tasksRefuseAndDispatchersGoOn() {
        val result = OtherKotlinx("JobSupport", "getOnAwaitInternal").call(Tasks::class.java)
        assertTrue(result.startsWith("tasks of a TaskScheduler do not work with kotlinx.coroutines "), result)
        assertTrue(", which lacks AbstractCoroutine.getOnAwaitInternal(). Use " in result, result)
        assertTrue(result.endsWith("; 0; dispatched"), result)
    }

    private class Prioritized : Callable<String> {
        override fun call(): String = runBlocking {
            val refusals = List(2) { messageOf { Dispatchers.Default.prioritized(1) } }
            val result = TaskScheduler(this, 1).run { "ran" }
            "${refusals.toSet().single()}; $result"
        }
    }

    @Test
    fun method_ofDelayIsNew_dispatchersRefuseAndTasksGoOn() {
        val result = OtherKotlinx("Delay", "scheduleResumeAfterDelay").call(Prioritized::class.java)
        assertTrue("lacks Delay.scheduleResumeAfterDelay(long, CancellableContinuation). " in result, result)
        assertEquals("dispatchers with priorities do not work with", result.substringBefore(" kotlinx"))
        assertTrue(result.endsWith("; ran"), result)
    }
}
