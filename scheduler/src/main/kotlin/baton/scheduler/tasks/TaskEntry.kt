package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.dispatch.RunQueue
import baton.waiting.LinkedEntry
import baton.waiting.threads.Trampoline
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import kotlinx.coroutines.CancellationException

/**
 * The state that a [TaskCore] keeps for a task. It is written under the core's lock, or by the only thread that can
 * reach the task: before that thread adds it to the [SubmissionStack], or after a step has chosen it. The exceptions
 * are [group], which the first thread to leave it clears, and [keyEntry], which [KeyIndex] writes.
 */
internal abstract class TaskEntry(basePriority: Priority) : LinkedEntry<TaskEntry>() {
    /** In the order in which a task goes through them. */
    enum class Phase {
        NEW,
        AWAITING_CAPACITY,
        QUEUED,
        RUNNING,
        ENDED,
    }

    /** Null for NEW. */
    @Volatile private var phaseOrNull: Phase? = null

    /**
     * Without the core's lock, a thread that has just published a write of its own may read an older phase: see
     * [TaskCore.isNotStarted].
     */
    var phase: Phase
        get() = phaseOrNull ?: Phase.NEW
        set(value) = PHASE.setRelease(this, value)

    /** As the user set it. */
    @Volatile lateinit var basePriority: Priority

    /** At which it is queued or runs: [basePriority], or the level of a caller that awaits or has awaited it. */
    @Volatile var level = 0

    init {
        // A volatile write would wait until all processors see it. The task is published later.
        BASE_PRIORITY.setRelease(this, basePriority)
        LEVEL.setRelease(this, basePriority.ordinal)
    }

    /** How many callers of each level await it. */
    private var awaiters: IntArray? = null

    /** Since when it waits, or runs, in nanoseconds of the core's clock. */
    var since = 0L

    /** Whether it is one of the core's [UnendedTasks], and has ended there. */
    var isCounted = false
    var isEnding = false

    /** Whether it was submitted after the intake had ended, so that its submitting thread must refuse it. */
    var isTooLate = false

    /** The next task that the same step has started, and the one that it has admitted. */
    var nextStarted: TaskEntry? = null
    var nextAdmitted: TaskEntry? = null

    /** Stands for it in the scope until it leaves; then null, and always if the scope has no job. */
    @Volatile
    var group: GroupJob? = null
        private set

    /** The entry that contains it; null if it has no key. Written before other threads can reach the task. */
    var keyEntry: KeyIndex.Entry? = null

    /** The key in messages; null if it has none. */
    open val shownKey: Any?
        get() = null

    /** Whether its outcome is known. */
    abstract val hasEnded: Boolean

    /** Of an ended task: whether its callers have its outcome. The core reads this under its lock. */
    open val isOver: Boolean
        get() = true

    /** Cancels it by its key or with its scope; null for a cause that names the task. */
    abstract fun cancelFromOutside(cause: CancellationException?)

    /** Called before other threads can reach the task. */
    fun enterGroup(group: GroupJob) = GROUP.setRelease(this, group)

    /** Further calls have no effect. */
    fun leaveGroup() {
        if (group != null) (GROUP.getAndSet(this, null as GroupJob?) as GroupJob?)?.leave()
    }

    // Each getter reads `phase` once: another thread may change it between two reads.

    val isWaiting: Boolean
        get() = phase.let { it == Phase.AWAITING_CAPACITY || it == Phase.QUEUED }

    /** True also for a NEW task, which no step of the core has processed. */
    val isNotStarted: Boolean
        get() = phase <= Phase.QUEUED

    /** The most urgent of its own level and those of the callers that await it. */
    val effectiveLevel: Int
        get() {
            val most = awaiters?.indexOfFirst { it > 0 } ?: -1
            return if (most < 0) basePriority.ordinal else minOf(most, basePriority.ordinal)
        }

    fun changeAwaiters(level: Int, change: Int) {
        val awaiters = awaiters ?: IntArray(RunQueue.LEVELS.size).also { awaiters = it }
        awaiters[level] += change
    }

    /** Calls [begin]. A task of a cancelled group is cancelled before: see invariant 7 of [TaskCore]. */
    fun beginInGroup() {
        group?.cancellation?.let(::cancelAndReport)
        begin()
    }

    // The core calls the following functions without its lock; they must not throw.

    /** The task occupies a slot: runs its block. */
    abstract fun begin()

    /** The queue has admitted the task: wakes its submitter. */
    abstract fun admit()

    /** The task was taken out of its queue or was never queued; [end] is the reason. */
    abstract fun refuse(end: TaskEnd)

    private companion object {
        private val LOOKUP: MethodHandles.Lookup = MethodHandles.lookup()
        private val PHASE: VarHandle = LOOKUP.findVarHandle(TaskEntry::class.java, "phaseOrNull", Phase::class.java)
        private val BASE_PRIORITY: VarHandle =
            LOOKUP.findVarHandle(TaskEntry::class.java, "basePriority", Priority::class.java)
        private val LEVEL: VarHandle = LOOKUP.findVarHandle(TaskEntry::class.java, "level", Int::class.java)
        private val GROUP: VarHandle = LOOKUP.findVarHandle(TaskEntry::class.java, "group", GroupJob::class.java)
    }
}

/**
 * Cancels [tasks] by their key or with their scope. An exception that the code of a task throws is reported; the tasks
 * after it are cancelled all the same.
 */
internal fun cancelAll(tasks: List<TaskEntry>, cause: CancellationException?) {
    for (task in tasks) task.cancelAndReport(cause)
}

/** As [TaskEntry.cancelFromOutside], for a caller that must not see an exception that the code of the task throws. */
internal fun TaskEntry.cancelAndReport(cause: CancellationException?) {
    try {
        cancelFromOutside(cause)
    } catch (e: Throwable) {
        Trampoline.report(e)
    }
}
