package baton.scheduler.memory

import baton.Priority
import baton.memory.usedHeap
import baton.scheduler.Schedule
import baton.scheduler.Trigger
import baton.scheduler.schedule.DueHeap
import baton.scheduler.schedule.KeySlots
import java.lang.ref.Reference.reachabilityFence
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.runBlocking
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The memory that a million entries need beside their keys. */
class ScheduleMemoryTest {
    /** Of type Any, because a loop over Longs would make new ones. */
    private val keys = List<Any>(ENTRIES) { it.toLong() }

    @Test
    fun index_ofAMillionEntries_needsAtMost32MiB() {
        val before = usedHeap()
        val slots = KeySlots<Any>()
        val heap = DueHeap()
        for (key in keys) slots.add(key).let { heap.set(it, due = it.toLong(), Priority.NORMAL) }
        assertUses(before, 32.0)
        reachabilityFence(slots)
        reachabilityFence(heap)
    }

    /**
     * The index, and for each entry its trigger, its state and its runs; and until the next flush its place in a list.
     */
    @Test
    fun schedule_ofAMillionEntries_needsAtMost50MiB() = runBlocking {
        val trigger = Trigger.every(2.minutes)
        val before = usedHeap()
        val schedule = Schedule<Any> {}
        for (key in keys) schedule.put(key, trigger)
        assertUses(before, 50.0)
        reachabilityFence(schedule)
    }

    private fun assertUses(before: Long, most: Double) {
        val used = (usedHeap() - before) / MIB
        assertTrue(used <= most + TOLERANCE) { "$used MiB" }
    }

    private companion object {
        const val ENTRIES = 1_000_000
        const val MIB = 1024.0 * 1024.0
        const val TOLERANCE = 0.25
    }
}
