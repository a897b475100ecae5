package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.dispatch.RunQueue

/**
 * What a [TaskCore] knows of a task: written under the core's lock, or by the only thread that can reach it, before it
 * is left in the inbox, or when it has been chosen.
 */
internal abstract class TaskEntry(
    /** As its user set it. */
    @Volatile var own: Priority,
) {
    /** In the order in which it comes to them. */
    enum class Place { NEW, AWAITING_CAPACITY, QUEUED, RUNNING, ENDED }

    @Volatile
    var place = Place.NEW

    /** Where it stands, or runs: [own], or the level of somebody who awaits it. */
    @Volatile
    var level = own.ordinal

    /** How many of each level await it. */
    private var awaiting: IntArray? = null

    /** When it was scheduled, and once it runs, when it was started. */
    var since = 0L

    /** Whether it counts as one that the scheduler has yet to bring to its end. */
    var isAccepted = false

    /** Whether it came when the intake had ended, so that whoever brought it is to refuse it. */
    var isTooLate = false

    /** Neighbours in a [TaskList]; of one that is to be started, the next such; of one in a [SubmissionStack], the one below. */
    var previous: TaskEntry? = null
    var next: TaskEntry? = null

    /** The next of those that were let in by the same step. */
    var nextLetIn: TaskEntry? = null

    // One read each: another thread may be moving it from one of these places to the next.

    val isWaiting: Boolean get() = place.let { it == Place.AWAITING_CAPACITY || it == Place.QUEUED }

    /** Also if it has just come, and no step of the core has seen it. */
    val isBeforeItsTurn: Boolean get() = place <= Place.QUEUED

    /** The most urgent of its own level and those of who awaits it. */
    val wanted: Int
        get() {
            val most = awaiting?.indexOfFirst { it > 0 } ?: -1
            return if (most < 0) own.ordinal else minOf(most, own.ordinal)
        }

    fun awaits(level: Int, change: Int) {
        val awaiting = awaiting ?: IntArray(RunQueue.LEVELS.size).also { awaiting = it }
        awaiting[level] += change
    }

    // What follows is called without the lock, and does not throw.

    /** It has its place: run the block. */
    abstract fun begin()

    /** There is room for it now. */
    abstract fun letIn()

    /** It has been taken out, or was never let in: [end] says why. */
    abstract fun refuse(end: TaskEnd)
}
