package baton.scheduler

import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow

/**
 * A store that ends with the process: the default of a [Schedule], and one for tests. [close] does not empty it, so the
 * next schedule with the same store finds the entries. It has no other writers, so it forgets deleted rows at once.
 *
 * All members may be called from any thread, and never wait.
 */
public class InMemoryScheduleStore<K : Any> : ScheduleStore<K> {
    private val rows = LinkedHashMap<K, ScheduleRow<K>>()
    private var revision = 0L
    private var isPaused = false

    override suspend fun load(since: Long): List<ScheduleRow<K>> =
        synchronized(rows) { rows.values.filter { it.revision > since } }

    override suspend fun apply(rows: List<ScheduleRow<K>>): Long =
        synchronized(this.rows) {
            val revision = ++this.revision
            for (row in rows) if (row.deleted) this.rows.remove(row.key)
            else this.rows[row.key] = row.with(row.key, revision)
            revision
        }

    override fun edits(): Flow<List<ScheduleRow<K>>> = emptyFlow()

    override suspend fun close() {}

    override suspend fun isPaused(): Boolean = synchronized(rows) { isPaused }

    override suspend fun setPaused(isPaused: Boolean) {
        synchronized(rows) { this.isPaused = isPaused }
    }

    override fun toString(): String = synchronized(rows) { "InMemoryScheduleStore (size = ${rows.size})" }
}
