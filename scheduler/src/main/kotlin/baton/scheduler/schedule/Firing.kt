package baton.scheduler.schedule

import baton.Priority
import baton.scheduler.RunOutcome
import baton.scheduler.Trigger
import baton.waiting.LinkedEntries
import baton.waiting.LinkedEntry
import java.util.PriorityQueue
import kotlinx.coroutines.Job

/**
 * A run of an entry, from its hand-over to its end. Its state changes under the lock of the table alone, except that
 * the thread that hands over an attempt counts it in [attempt].
 */
internal class Firing<K : Any>(
    val slot: Int,
    val key: K,
    /** The one that has fired; null for `triggerNow`. If the entry has another one at the end, [catchUp] is dropped. */
    val trigger: Trigger?,
    /** When the entry was due, in microseconds. */
    val at: Long,
    val priority: Priority,
    val missed: Int,
    /** The runs that follow on this one. */
    val catchUp: CatchUp?,
    /** The runs of its slot when it was made. */
    val runs: EntryRuns<K>,
) : LinkedEntry<Firing<K>>() {
    private val generation = runs.generation

    /** Whether the action has begun. */
    var hasBegun = false

    /** Whether its end was recorded. */
    var hasEnded = false

    /** When its action has begun, while [hasBegun]. */
    var begunAt = 0L

    /** When its present attempt was due: the first one [at] its due time. */
    var readyAt = at

    /** How often it was handed over: once for each attempt. */
    @Volatile var attempt = 0

    /** The last attempt that has ended, or 0. */
    @Volatile var lastEnded = 0

    /**
     * The coroutine of its present attempt, once that is known; null while it waits for another attempt. It is set once
     * for each attempt, and not after the end of that.
     */
    @Volatile var job: Job? = null

    /** Its attempts, if it may have several. */
    @Volatile var attempts: RunAttempts? = null

    /**
     * Why it was cancelled before its action has ended: CANCELLED, which remains, or TIMED_OUT, which is that of the
     * present attempt. The thread that sets it cancels [job], and a thread that sets [job] reads this: at least one of
     * them cancels the coroutine.
     */
    @Volatile var interruption: RunOutcome? = null

    /** How it has ended; null also if the end of the schedule has cancelled it. */
    var outcome: RunOutcome? = null

    /** Whether the entry was paused or removed since. */
    val isRevoked: Boolean
        get() = generation != runs.generation
}

/** The runs of an entry that are handed over, and have neither ended nor been revoked. */
internal class EntryRuns<K : Any> {
    /** At least 1 while the table has it. */
    var count = 0

    /** The runs that count, and the revoked ones that have not ended. */
    val all = LinkedEntries<Firing<K>>()

    /** How many of them have begun. */
    var begun = 0

    /** Grows when the runs that have not begun are revoked. */
    var generation = 0
        private set

    /** When the earliest of them was due, for the row of the entry, without those that `triggerNow` has started. */
    var due = Times.NEVER
        private set

    /** When the others were due; few have any. */
    private var laterDues: PriorityQueue<Long>? = null

    /** The run that waits for the end of the present one. */
    var waiting: Firing<K>? = null

    /** The last run of an entry that is ENDING, unless it was skipped. */
    var last: Firing<K>? = null

    fun addDue(at: Long) {
        if (due != Times.NEVER) {
            val later = laterDues ?: PriorityQueue<Long>().also { laterDues = it }
            later.add(maxOf(due, at))
        }
        due = minOf(due, at)
    }

    fun removeDue(at: Long) {
        if (at == due) due = laterDues?.poll() ?: Times.NEVER else laterDues?.remove(at)
    }

    /** No run begins that has not begun: only those that have are left. */
    fun revoke() {
        generation++
        count = begun
        waiting = null
    }
}
