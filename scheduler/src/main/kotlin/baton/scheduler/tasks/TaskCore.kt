package baton.scheduler.tasks

import baton.Priority
import baton.monitoring.Usage
import baton.scheduler.OnFullQueue
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.tasks.TaskEntry.Phase
import baton.sync.Latch
import baton.waiting.LinkedEntries
import baton.waiting.clock.BoundClock
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext

/*
 * How it works
 *
 *             capacity               slot        the task and its children have ended
 *   NEW ─────────────────────▶ QUEUED ───▶ RUNNING ────────────────────────────────▶ ENDED
 *    │└─▶ AWAITING_CAPACITY ────▲ │                                                    ▲
 *    └────────────┴───────────────┴──── cancelled, refused, shed, expired, closed ─────┘
 *
 *   NEW                 no step has processed the task: it was not submitted yet, or it is in `submissions`
 *   AWAITING_CAPACITY   its submitter waits for capacity: in `awaitingCapacity`, in order of arrival
 *   QUEUED              in `queue`; a task is added at the tail of its level
 *   RUNNING             it occupies a slot, from the step that chose it
 *   ENDED               in no queue; its outcome is known, or the thread that took it out is about to set it
 *
 * All state except `submissions` is written under `lock`, in steps:
 * (1) A step ends by starting all tasks that may start. So between two steps no task is QUEUED while a slot is free and
 *     the scheduler is not paused. After resume, or after maxConcurrency was raised, all slots that can be used are.
 * (2) There is capacity for a task if the queue is not full, or if the queue is empty and a slot is free. A step admits
 *     tasks from `awaitingCapacity`, oldest first, while there is capacity. So no task is AWAITING_CAPACITY while there
 *     is capacity, and no newcomer overtakes one that is.
 * (3) `running` contains the RUNNING tasks. One is added only below `maxConcurrency`; each is removed once, when it goes
 *     from RUNNING to ENDED.
 * (4) `unended` has the tasks that have been QUEUED or AWAITING_CAPACITY and are not over. A task is over once it is
 *     ENDED and its callers have the outcome: a step frees its slot first. After the intake has ended no task is added;
 *     when none is left, `allEnded` opens. Each time that none is left, the latch of `idle` opens.
 * (5) A task is in one queue while QUEUED or AWAITING_CAPACITY, otherwise in none. The step that takes it out changes
 *     its phase: so exactly one of start, cancellation, deadline, shedding and close wins.
 * (6) If the capacity is unbounded, a thread that submits a task while none can be started leaves it in `submissions`,
 *     without the lock: a step could do no more than queue it. Each step begins by queueing all submissions.
 *     `submissions` is open only while another step will follow before any task can be started: the end of a running
 *     task, resume or resize. A step that closes it empties it afterwards, and a thread that finds it closed after
 *     adding its task begins a step. So no task stays in it.
 * (7) A thread that cancels a group looks for its tasks afterwards, under `lock`, and cancels them without it. A thread
 *     that has enqueued a task reads afterwards whether its group is cancelled, and then cancels it; so does one that has
 *     started it, before its code can run on that stack. At least one of the two sees the other's write.
 *
 * A step is O(1), except that starting or admitting n tasks is O(n), and close is O(waiting tasks). The search for the
 * tasks of a cancelled group is O(unended tasks). Queueing submissions costs O(1) a task. After the lock is released its
 * thread begins tasks, wakes admitted submitters and completes refused tasks. The end of a task that runs in place
 * starts the next one on the same stack; TaskStart bounds the depth.
 */
internal class TaskCore(
    maxConcurrency: Int,
    private val config: TaskSchedulerConfig,
    context: CoroutineContext = EmptyCoroutineContext,
    /** Returns false once all tasks are being cancelled; from then on none is started. */
    private val isAlive: () -> Boolean,
) {
    val clock = BoundClock(config.clock, context = context)
    private val lock = Any()
    private val tasks = TaskTable(config)
    private val submissions = SubmissionStack()
    private val outcome = StepOutcome()

    // Written under the lock, read by any thread.
    @Volatile private var intake = Intake.OPEN

    @Volatile
    var closure: Throwable? = null
        private set

    /** Opens when the intake has ended and no task is unended. */
    val allEnded = Latch(1)

    val isOpen: Boolean
        get() = intake == Intake.OPEN

    val isClosed: Boolean
        get() = intake == Intake.CLOSED

    @Volatile
    var isPaused = false
        private set

    @Volatile
    var maxConcurrency: Int = maxConcurrency
        private set

    /**
     * False once [isAlive] has returned false. Each step calls it before it takes the lock, so a step that is a
     * consequence of the scope's cancellation sees false.
     */
    private var isLive = true

    private val unended: UnendedTasks
        get() = tasks

    private val queue: TaskQueue
        get() = tasks.queue

    private val awaitingCapacity: LinkedEntries<TaskEntry>
        get() = tasks.awaitingCapacity

    private val counts: TaskCounts
        get() = tasks.counts

    private val canStart: Boolean
        get() = tasks.running.size < maxConcurrency && !isPaused && isLive

    /** Whether there is always capacity: see invariant 6. */
    private val isUnbounded = config.capacity == Int.MAX_VALUE

    private val hasCapacity: Boolean
        get() = queue.size < config.capacity || (queue.size == 0 && canStart)

    /**
     * Queues a NEW task, or refuses it. On return the task may still be in [submissions], or be AWAITING_CAPACITY if it
     * [mayWait]. A task that [isNowOrNever] is started or has EXPIRED, and displaces no other.
     */
    fun enqueue(task: TaskEntry, mayWait: Boolean, isNowOrNever: Boolean, now: Long) {
        if (!queue.isPrepared(task.level)) locked { queue.prepare(task.level) }
        if (submissions.isOpen && task.phase == Phase.NEW && !isNowOrNever) return submitWithoutLock(task, now)
        var refusal: TaskEnd? = null
        var shed: TaskEntry? = null
        step(now) {
            task.since = now
            counts.scheduled(task.level)
            when {
                task.phase == Phase.ENDED -> counts.ended(task.level, TaskEnd.WITHDRAWN)
                !isOpen -> refusal = TaskEnd.CLOSED
                isNowOrNever && !(canStart && queue.size == 0) -> refusal = TaskEnd.EXPIRED
                hasCapacity -> tasks.addToQueue(task)
                config.onFull == OnFullQueue.SUSPEND && mayWait -> tasks.awaitCapacity(task)
                else -> {
                    shed = if (config.onFull == OnFullQueue.DROP_LOWEST) queue.lastBelow(task.level) else null
                    shed?.let { tasks.dequeue(it, TaskEnd.SHED) }
                    if (shed != null) tasks.addToQueue(task) else refusal = TaskEnd.REJECTED
                }
            }
            if (task.isWaiting) unended.add(task)
            refusal?.let { tasks.markEnded(task, it) }
        }
        shed?.refuse(TaskEnd.SHED)
        refusal?.let(task::refuse)
    }

    /** Invariant 6. */
    private fun submitWithoutLock(task: TaskEntry, now: Long) {
        task.since = now
        submissions.add(task)
        if (submissions.isOpen) return
        step(now) { if (!isOpen) processSubmissions(areLate = true) }
        if (task.isTooLate) task.refuse(TaskEnd.CLOSED)
    }

    /** Queues all [submissions]. If the intake has ended, a step of [submitWithoutLock] ends them instead. */
    private fun queueSubmissions() {
        if (!submissions.isEmpty && isOpen) processSubmissions(areLate = false)
    }

    /** Queues all [submissions], or, if they [areLate], ends them; each one's submitting thread then refuses it. */
    private fun processSubmissions(areLate: Boolean) {
        var first = submissions.takeAll()
        while (first != null) {
            val task: TaskEntry = first
            first = task.next
            task.next = null
            counts.scheduled(task.level)
            if (task.phase == Phase.ENDED) {
                counts.ended(task.level, TaskEnd.WITHDRAWN)
            } else if (areLate) {
                tasks.markEnded(task, TaskEnd.CLOSED)
                task.isTooLate = true
            } else {
                tasks.addToQueue(task)
                unended.add(task)
            }
        }
    }

    /** Records the outcome of [task]: a value if [failure] is null. Only the first call returns true or has effects. */
    fun recordEnd(task: TaskEntry, failure: Throwable?, isCancelled: Boolean): Boolean {
        var isRecorded = false
        step { now ->
            isRecorded = task.phase != Phase.ENDED
            when {
                task.isWaiting -> tasks.dequeue(task, TaskEnd.WITHDRAWN)
                task.phase == Phase.RUNNING -> {
                    val end = if (isCancelled) TaskEnd.CANCELLED else TaskEnd.FAILED
                    tasks.endRunning(task, if (failure == null) TaskEnd.DONE else end, now)
                }
                else -> task.phase = Phase.ENDED
            }
            unended.end(task)
        }
        return isRecorded
    }

    /** [task] is over; it may not have ended yet. */
    fun completed(task: TaskEntry) = lockedEnd { if (task.isEnding) unended.end(task) }

    /** A latch that opens once no task is unended; null if none is now. */
    fun idle(): Latch? = lockedEnd {
        unended.look()
        unended.idle()
    }

    /** How long [task] has run; null if it does not run. */
    fun runTime(task: TaskEntry, now: Long = timeOrZero()): Long? = locked {
        if (task.phase == Phase.RUNNING) maxOf(0, now - task.since) else null
    }

    /** Takes out all tasks that wait. Returns how many there were. */
    fun clear(): Int {
        val dequeued = ArrayList<TaskEntry>()
        step { dequeueAll(TaskEnd.WITHDRAWN, dequeued) }
        for (task in dequeued) task.refuse(TaskEnd.WITHDRAWN)
        return dequeued.size
    }

    private fun dequeueAll(end: TaskEnd, dequeued: MutableList<TaskEntry>) {
        while (true) {
            val task = queue.firstOfAnyLevel() ?: awaitingCapacity.first ?: return
            dequeued += tasks.dequeue(task, end)
        }
    }

    /** The deadline of [task] has passed. */
    fun expire(task: TaskEntry) {
        var isLate = false
        step {
            isLate = task.isWaiting
            if (isLate) tasks.dequeue(task, TaskEnd.EXPIRED)
        }
        if (isLate) task.refuse(TaskEnd.EXPIRED)
    }

    /**
     * Takes [task] out of its queue, or prevents it from being queued later. Returns false if it was started or has
     * ended. Unless its outcome [isKnown], the caller must call [recordEnd] afterwards.
     */
    fun withdraw(task: TaskEntry, isKnown: Boolean = false): Boolean {
        var isWithdrawn = false
        step {
            isWithdrawn = task.isWaiting || task.phase == Phase.NEW
            if (task.isWaiting) tasks.dequeue(task, TaskEnd.WITHDRAWN) else if (isWithdrawn) task.phase = Phase.ENDED
            if (isWithdrawn && isKnown) unended.end(task)
        }
        return isWithdrawn
    }

    /** As of [task], after all steps that have begun. */
    fun isNotStarted(task: TaskEntry): Boolean = locked { task.isNotStarted }

    /** Cancels the tasks of [group], which is cancelled: invariant 7. */
    fun cancelTasksOf(group: GroupJob) = cancelAll(locked { tasks.tasksOf(group) }, group.cancellation)

    fun pause() = step { isPaused = true }

    fun resume() = step { isPaused = false }

    fun resize(slots: Int) = step { maxConcurrency = slots }

    fun drain() = step {
        closeSubmissions()
        endIntake(Intake.DRAINING)
    }

    fun close(cause: Throwable?) {
        val dequeued = ArrayList<TaskEntry>()
        step {
            closeSubmissions()
            if (!isClosed) {
                closure = cause
                dequeueAll(TaskEnd.CLOSED, dequeued)
            }
            endIntake(Intake.CLOSED)
        }
        for (task in dequeued) task.refuse(TaskEnd.CLOSED)
    }

    /** Queues the tasks in [submissions] unless the intake has ended. A thread that adds one later begins a step. */
    private fun closeSubmissions() {
        submissions.isOpen = false
        queueSubmissions()
    }

    private fun endIntake(now: Intake) {
        if (intake < now) intake = now
        unended.look()
    }

    /** Sets the base priority; a queued task whose level changes goes to the tail of its new one. */
    fun prioritize(task: TaskEntry, priority: Priority) {
        locked {
            queue.prepare(priority.ordinal)
            task.basePriority = priority
            tasks.move(task, task.effectiveLevel)
        }
    }

    /** A caller of [level] begins to await [task]. Returns false if the task has ended. */
    fun boost(task: TaskEntry, level: Int): Boolean = locked {
        queue.prepare(level)
        // The task may not be queued yet, and comes back to its own level if the caller gives up.
        queue.prepare(task.basePriority.ordinal)
        val isUnended = task.phase != Phase.ENDED
        if (isUnended) task.changeAwaiters(level, 1)
        if (isUnended && level < task.level) {
            counts.boosted(level)
            tasks.move(task, level)
        }
        isUnended
    }

    /** A caller of [level] no longer awaits [task]. A queued task keeps the level and the position that it has. */
    fun unboost(task: TaskEntry, level: Int) {
        locked {
            task.changeAwaiters(level, -1)
            if (task.phase == Phase.RUNNING) tasks.move(task, task.effectiveLevel)
        }
    }

    fun metrics(): TaskSchedulerMetrics {
        val now = timeOrZero()
        return locked { tasks.metrics(maxConcurrency, now) }
    }

    fun usage(): Usage = TaskWaits(timeOrZero()).also { locked { it.look(tasks) } }.toUsage(maxConcurrency)

    /** For actions that start no task: this queues submissions only while none of them could be started. */
    private inline fun <R> locked(action: () -> R): R =
        synchronized(lock) {
            if (submissions.isOpen) queueSubmissions()
            action()
        }

    /** As [locked]; then opens the latches of callers that wait for the end of tasks. */
    private inline fun <R> lockedEnd(action: () -> R): R {
        var idle: Latch? = null
        var isOver = false
        val result = locked {
            action().also {
                idle = unended.takeIdle()
                isOver = !isOpen && unended.isEmpty
            }
        }
        idle?.countDown()
        if (isOver) allEnded.countDown()
        return result
    }

    /**
     * Zero if the clock throws: the end of a task and its message do not depend on the clock. At 0 no task is overdue,
     * and no wait and no run has taken time.
     */
    private fun timeOrZero(): Long = clock.readOr(0)

    /** One step: [decision], then all starts and admissions that follow from it. */
    private inline fun step(now: Long = timeOrZero(), decision: (now: Long) -> Unit) {
        val isLive = isAlive()
        var started: TaskEntry? = null
        var admitted: TaskEntry? = null
        lockedEnd {
            if (!isLive) this.isLive = false
            queueSubmissions()
            counts.countPeak(queue.size)
            decision(now)
            startAndAdmit(now)
            counts.countPeak(queue.size + awaitingCapacity.size)
            started = outcome.takeStarted()
            admitted = outcome.takeAdmitted()
        }
        admitted?.let(StepOutcome::admitAll)
        started?.let(StepOutcome::beginAll)
    }

    /** Establishes invariants 1, 2 and 6. */
    private fun startAndAdmit(now: Long) {
        while (true) {
            while (hasCapacity) {
                val task = awaitingCapacity.first ?: break
                tasks.admit(task)
                outcome.addAdmitted(task)
            }
            if (queue.size > 0 && canStart) {
                outcome.addStarted(tasks.startNext(now))
                continue
            }
            val mayBeOpen = isUnbounded && isLive && isOpen && !canStart
            if (submissions.isOpen == mayBeOpen) return
            if (mayBeOpen) submissions.isOpen = true else closeSubmissions()
        }
    }
}
