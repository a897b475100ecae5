package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.InMemoryScheduleStore
import baton.scheduler.PausedBy
import baton.scheduler.ScheduleRow
import baton.scheduler.ScheduleStore
import java.io.IOException
import java.time.Instant
import kotlin.time.Duration
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.emitAll
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.mapNotNull
import kotlinx.coroutines.flow.takeWhile

/** A store with other writers, that fails and is slow on demand, and records its calls. */
internal class FaultyStore : ScheduleStore<String> {
    val inside = InMemoryScheduleStore<String>()
    val loads = ArrayList<Long>()
    val batches = ArrayList<List<ScheduleRow<String>>>()

    /** Deleted rows, which the store inside forgets. */
    private val deleted = HashMap<String, ScheduleRow<String>>()

    /** The revisions of other writers. */
    private val edits = HashSet<Long>()
    private val stream = MutableSharedFlow<List<ScheduleRow<String>>?>(extraBufferCapacity = 100)
    var closed = 0
    var failsToLoad = false
    var failsToApply = false
    var failsToFlow = false

    /** Whether [apply] writes, and then fails. */
    var failsToConfirm = false

    /** The rows that [apply] refuses, with all of their batch. */
    var refuses: (ScheduleRow<String>) -> Boolean = { false }

    /** How long each call takes before it has its effect. */
    var takes: Duration = Duration.ZERO

    /** How long each call takes from its effect to its return. */
    var returnsAfter: Duration = Duration.ZERO
    var closeTakes: Duration = Duration.ZERO

    /** How much longer [load] takes. */
    var loadTakes: Duration = Duration.ZERO

    /** Runs when [apply] has had its effect. */
    var afterApply: suspend () -> Unit = {}

    override suspend fun load(since: Long): List<ScheduleRow<String>> {
        loads += since
        delay(takes + loadTakes)
        if (failsToLoad) throw IOException("load")
        val rows = inside.load(since) + if (since > 0) deleted.values.filter { it.revision > since } else emptyList()
        delay(returnsAfter)
        return rows
    }

    override suspend fun apply(rows: List<ScheduleRow<String>>): Long {
        check(rows.isNotEmpty() && rows.map { it.key }.distinct().size == rows.size)
        delay(takes)
        if (failsToApply) throw IOException("apply")
        rows.find(refuses)?.let { throw IllegalArgumentException("row of ${it.key}") }
        batches += rows
        val revision = if (keepsEdits) writeUnlessEdited(rows) else write(rows)
        delay(returnsAfter)
        afterApply()
        if (failsToConfirm) throw IOException("confirm")
        return revision
    }

    /** Whether the due time of a run does not replace the row of others, which gets a newer revision instead. */
    var keepsEdits = false

    private suspend fun writeUnlessEdited(rows: List<ScheduleRow<String>>): Long {
        val edited = inside.load(0).filter { it.revision in edits }.associateBy { it.key }
        val kept =
            rows.filter { row -> !row.isEdited && edited[row.key].let { it != null && it.revision > row.revision } }
        val revision = if (kept.size < rows.size) write(rows - kept.toSet()) else inside.apply(listOf(NO_ROW))
        if (kept.isNotEmpty()) edits += write(kept.map { edited.getValue(it.key) })
        return revision
    }

    private suspend fun write(rows: List<ScheduleRow<String>>): Long {
        val revision = inside.apply(rows)
        for (row in rows) if (row.deleted) deleted[row.key] = row.with(revision) else deleted -= row.key
        return revision
    }

    override fun edits(): Flow<List<ScheduleRow<String>>> = flow {
        if (failsToFlow) throw IOException("edits")
        emitAll(stream.takeWhile { it != null }.mapNotNull { it })
        throw IOException("edits")
    }

    /** Ends the flow of edits with a failure. */
    fun breakFlow() {
        stream.tryEmit(null)
    }

    /** Another writer writes [rows]. If not [isTold], the network loses the edit. */
    suspend fun writeOther(vararg rows: ScheduleRow<String>, isTold: Boolean = true) {
        val revision = write(rows.toList())
        edits += revision
        if (isTold) tell(*rows.map { it.with(revision) }.toTypedArray())
    }

    fun tell(vararg rows: ScheduleRow<String>) {
        check(stream.tryEmit(rows.toList()))
    }

    override suspend fun isPaused() = inside.isPaused()

    override suspend fun setPaused(isPaused: Boolean) {
        if (failsToApply) throw IOException("setPaused")
        inside.setPaused(isPaused)
    }

    override suspend fun close() {
        closed++
        delay(closeTakes)
    }

    private companion object {
        /** Of a batch of which no row is written. */
        val NO_ROW = rowOf("", "", deleted = true)
    }
}

internal fun ScheduleRow<String>.with(revision: Long) = with(key, revision)

internal fun rowOf(
    key: String,
    trigger: String,
    nextDue: Instant? = null,
    paused: Boolean = false,
    deleted: Boolean = false,
    revision: Long = 0,
) = ScheduleRow(key, trigger, Priority.NORMAL, nextDue, PausedBy.USER.takeIf { paused }, deleted, revision)
