package baton.scheduler.schedule.parts

import baton.Priority
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.scheduler.schedule.EntryFlags
import baton.scheduler.schedule.EntryTable
import baton.scheduler.schedule.ScheduleCore
import baton.scheduler.schedule.StoreRows
import baton.scheduler.schedule.rowOf
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.minutes
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The rows that are taken to be written, beside other threads. */
class StoreRowsTest {
    private val everyMinute = Trigger.every(1.minutes)

    private val config = ScheduleConfig()
    private val table = EntryTable<String>(1)
    private val core = ScheduleCore(config, table, "test")
    private val rows = StoreRows(config, core)

    private fun put(key: String) = core.put(key, everyMinute, Priority.NORMAL)

    /** An edit of others leaves a key in the list of the dirty ones, where a later edit enters it anew. */
    @Test
    fun take_besideEdits_returnsEachKeyOnce() {
        rows.mergeFirst(listOf(rowOf("a", "every PT1M", revision = 1)))
        for (round in 0 until 20L) {
            table.step { table.markDirty(table.findLive("a"), hasEdited = false) }
            rows.mergeEdits(listOf(rowOf("a", "every PT1M", revision = round + 2)))
            for (i in 0 until 2_000) put("$round $i")
            put("a")
            val isDone = AtomicBoolean()
            val editor = thread { while (!isDone.get()) put("a") }
            val taken =
                try {
                    rows.take().rows.map { it.key }
                } finally {
                    isDone.set(true)
                    editor.join()
                }
            assertEquals(2_001, taken.size)
            assertEquals(2_001, taken.distinct().size)
            val unwritten = EntryFlags.DIRTY or EntryFlags.IN_FLIGHT or EntryFlags.EDITED
            table.step { table.unmark(table.findLive("a"), unwritten) }
        }
    }
}
