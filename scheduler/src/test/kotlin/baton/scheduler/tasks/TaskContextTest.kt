package baton.scheduler.tasks

import baton.Priority
import baton.PriorityElement
import baton.scheduler.TaskScheduler
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

/** The context of a task: the scope's, with the task's level and job. */
class TaskContextTest {
    private val local = ThreadLocal<String>()
    private val scope =
        CoroutineScope(Dispatchers.Default + CoroutineName("scope") + Priority.HIGH + local.asContextElement("scope"))
    private val scheduler = TaskScheduler(scope, 1)

    private fun contextOfATask() = runBlocking { scheduler.run(Priority.CRITICAL) { coroutineContext } }

    private fun CoroutineContext.elements() = fold(emptySet<Any>()) { found, element -> found + element }

    @Test
    fun get_everyKeyExceptLevelAndJob_isTheScopes() {
        val context = contextOfATask()
        assertSame(Dispatchers.Default, context[ContinuationInterceptor])
        assertEquals("scope", context[CoroutineName]?.name)
        assertEquals(Priority.CRITICAL, context[PriorityElement]?.level)
        assertNotSame(scope.coroutineContext[Job], context[Job])
        assertEquals("scope", runBlocking { scheduler.run { local.get() } })
    }

    @Test
    fun fold_hasOneLevelAndOneJob() {
        val elements = contextOfATask().elements()
        assertEquals(listOf(Priority.CRITICAL), elements.filterIsInstance<PriorityElement>().map { it.level })
        assertEquals(1, elements.filterIsInstance<Job>().size)
    }

    @Test
    fun plus_anotherJob_leavesTheContextAsItIs() {
        val context = contextOfATask()
        val before = context.elements()
        val job = Job()
        assertSame(job, (context + job)[Job])
        assertEquals(before, context.elements())
        assertEquals(before, (EmptyCoroutineContext + context).elements())
    }
}
