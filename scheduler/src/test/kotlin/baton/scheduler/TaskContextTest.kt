package baton.scheduler

import baton.Priority
import baton.PriorityController
import baton.PriorityElement
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Test

/** One object that is to be taken for what `common + controller + job` would be. */
class TaskContextTest {
    private val common = Dispatchers.Default + CoroutineName("task")
    private val controller = PriorityController(Priority.LOW)
    private val job = Job()
    private val plain = common + controller + job
    private val context = TaskContext(common, controller) + job

    private fun CoroutineContext.elements() = fold(emptySet<Any>()) { found, element -> found + element }

    @Test
    fun get_everyKey_answersAsThePlainOne() {
        for (key in listOf(Job, PriorityElement.Key, ContinuationInterceptor, CoroutineName)) {
            assertSame(plain[key], context[key])
        }
        assertNull(TaskContext(EmptyCoroutineContext, controller)[Job])
    }

    @Test
    fun fold_andPlus_haveAllElementsOnce() {
        assertEquals(plain.elements(), context.elements())
        assertEquals(setOf<Any>(controller), TaskContext(EmptyCoroutineContext, controller).elements())
        assertEquals((CoroutineName("outer") + plain).elements(), (CoroutineName("outer") + context).elements())
    }

    @Test
    fun plus_onceThereIsAJob_leavesItAsItIs() {
        val other = Job()
        assertEquals((plain + other + Priority.HIGH).elements(), (context + other + Priority.HIGH).elements())
        assertSame(job, context[Job])
        val alone = TaskContext(EmptyCoroutineContext, controller)
        assertEquals(setOf<Any>(Priority.HIGH), (alone + Priority.HIGH).elements())
    }

    @Test
    fun minusKey_takesThatElementAlone() {
        for (key in listOf(Job, PriorityElement.Key, ContinuationInterceptor, CoroutineName)) {
            assertEquals(plain.minusKey(key).elements(), context.minusKey(key).elements())
        }
        val none = TaskContext(EmptyCoroutineContext, controller)
        assertSame(none, none.minusKey(Job))
    }

    @Test
    fun toString_isThatOfThePlainOne() = assertEquals("$plain", "$context")

    @Test
    fun scope_withALevelOfItsOwn_givesItToNoTask() = runBlocking {
        val scheduler = TaskScheduler(CoroutineScope(Dispatchers.Default + Priority.HIGH), 1)
        val levels = scheduler.run(Priority.CRITICAL) {
            coroutineContext.elements().filterIsInstance<PriorityElement>().map { it.level }
        }
        assertEquals(listOf(Priority.CRITICAL), levels)
    }
}
