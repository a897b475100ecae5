package baton.memory

import baton.sync.Condition
import baton.sync.Mutex
import baton.sync.withLock
import baton.waiting.Enough
import java.lang.ref.WeakReference
import kotlinx.coroutines.Job
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class ConditionMemoryTest {
    private val mutex = Mutex()
    private val condition = mutex.newCondition()
    private class Payload

    /** Parks and returns: cancelled, signalled or both. In a function of its own: no local keeps anything. */
    private fun used(): List<WeakReference<Any>> =
        List(3) { kind ->
            val owner = Payload()
            val job = park { mutex.withLock(owner) { condition.await() } }
            check(mutex.tryLock())
            if (kind > 0) condition.signal()
            if (kind < 2) job.cancel(Enough)
            mutex.unlock()
            WeakReference<Any>(owner)
        }

    @Test
    fun idleCondition_retainsNoUserObject() {
        val seen = used()
        assertEquals("Condition (waiting = 0) of Mutex (free)", "$condition")
        assertCollected(seen)
    }

    @Test
    fun cancelledAmongOthers_leavesNothingBehind() {
        val (jobs, owners) = List(3) { waiting() }.unzip()
        jobs[1].cancel(Enough)
        assertEquals(2, condition.waiting)
        assertCollected(listOf(owners[1]))
        jobs.forEach { it.cancel(Enough) }
    }

    private fun waiting(): Pair<Job, WeakReference<Any>> {
        val owner = Payload()
        return park { mutex.withLock(owner) { condition.await() } } to WeakReference(owner)
    }
}
