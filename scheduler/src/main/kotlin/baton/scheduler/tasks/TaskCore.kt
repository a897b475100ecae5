package baton.scheduler.tasks

import baton.Priority
import baton.scheduler.OnFullQueue
import baton.scheduler.TaskSchedulerConfig
import baton.scheduler.TaskSchedulerMetrics
import baton.scheduler.dispatch.RunQueue
import baton.scheduler.tasks.TaskEntry.Place
import baton.sync.Latch

/*
 * How it works
 *
 *          room                  turn                     all inside it has ended
 *   NEW ─────────▶ QUEUED ─────────────▶ RUNNING ────────────────────────────────▶ ENDED
 *    │ └▶ AWAITING_CAPACITY ───▲ │                                                             ▲
 *    └─────────┴───────┴──── cancelled, refused, shed, expired, closed ──────────────┘
 *
 *   NEW       no step has seen it: it has not come yet, or it is in `inbox`
 *   AWAITING_CAPACITY   its submitter waits for room: in `outside`, in the order of their coming
 *   QUEUED    in `queue`, at the end of the line of its level
 *   RUNNING   it has one of the places, from the moment it was chosen
 *   ENDED     it stands nowhere; its outcome is known, or is being made known by whoever took it out
 *
 * Everything but the tasks in `inbox` is written under `lock`, in steps:
 * (1) A step ends by starting all that may be started. So between two steps nothing is queued while a place is free and
 *     the scheduler is not paused; a resumed or enlarged scheduler is as busy as it may be.
 * (2) Room is a place in the queue, or, when nothing is queued, a free place to run. A step lets in those outside while
 *     there is room, the first first. So nobody stands outside while there is room, and no newcomer passes them.
 * (3) `running` is the number of tasks RUNNING. It rises only below `maxConcurrency`; each task takes one away, once,
 *     when it goes from RUNNING to ENDED.
 * (4) `unended` counts the tasks that have been QUEUED or AWAITING_CAPACITY and whose outcome is not known yet. Once the intake
 *     has ended it only falls; when it is 0, `ended` opens.
 * (5) A task stands in one line while QUEUED or AWAITING_CAPACITY, in none otherwise. Whoever takes it out changes its place in
 *     the same step: one of start, cancel, deadline, shedding and close wins.
 * (6) Where the queue has no bound, a task that comes while none can be started is left in `inbox`, without the lock:
 *     all that a step could do for it is to queue it. Each step begins with that. `inbox` is open only while a step will
 *     follow before any task can be started: the end of one that runs, resume, resize. A step that closes it empties
 *     it after that, and whoever finds it closed after having left a task there begins a step: so nothing stays in it.
 *
 * All steps are O(1), but for those that start or let in many (O(those)), and close (O(those queued)); what they find in
 * `inbox` they queue for those who left it there, O(1) for each task in its life. What they decide
 * is done after the lock: tasks are begun, submitters told, refusals made known. Where a dispatcher or an executor runs a
 * task in place, its end starts the next one inside: the tasks themselves keep that from growing (TaskStart).
 *
 * When all tasks are being cancelled with their scope, none is started any more, though places become free.
 */
internal class TaskCore(
    maxConcurrency: Int,
    private val config: TaskSchedulerConfig,
    /** False once all tasks are being cancelled: then none is started. */
    private val isAlive: () -> Boolean,
) {
    private enum class Intake { OPEN, DRAINING, CLOSED }

    private val lock = Any()
    private val queue = TaskQueue(config)
    private val outside = TaskList()
    private val inbox = SubmissionStack()
    private val counts = TaskCounts()
    private var running = 0
    private var unended = 0

    private var toStart: TaskEntry? = null
    private var lastToStart: TaskEntry? = null
    private var toLetIn: TaskEntry? = null
    private var lastToLetIn: TaskEntry? = null

    // Written under the lock, read by anybody.
    @Volatile
    private var intake = Intake.OPEN

    @Volatile
    var closure: Throwable? = null
        private set

    /** Opens when the intake has ended and nothing is left. */
    val ended = Latch(1)

    val isOpen: Boolean get() = intake == Intake.OPEN

    val isClosed: Boolean get() = intake == Intake.CLOSED

    @Volatile
    var isPaused = false
        private set

    @Volatile
    var maxConcurrency: Int = maxConcurrency
        private set

    /** Whether [isAlive] has never said no. It is asked before each step: one that follows from the scope's end finds it. */
    private var isLive = true

    private val hasPlace: Boolean get() = running < maxConcurrency && !isPaused && isLive

    /** Whether there is always room: see invariant 6. */
    private val isBoundless = config.capacity == Int.MAX_VALUE

    private val hasRoom: Boolean get() = queue.size < config.capacity || (queue.size == 0 && hasPlace)

    /** Takes in a task that is NEW, or ends it. It may still be in the inbox after this, or AWAITING_CAPACITY if it [mayWait]. */
    fun enqueue(task: TaskEntry, mayWait: Boolean) {
        if (inbox.isOpen && task.place == Place.NEW) return leaveInInbox(task)
        var refusal: TaskEnd? = null
        var shed: TaskEntry? = null
        decide { now ->
            task.since = now
            counts.scheduled(task.level)
            when {
                task.place == Place.ENDED -> counts.ended(task.level, TaskEnd.WITHDRAWN)
                !isOpen -> refusal = TaskEnd.CLOSED
                hasRoom -> link(task)
                config.onFull == OnFullQueue.SUSPEND && mayWait -> {
                    task.place = Place.AWAITING_CAPACITY
                    outside.add(task)
                }
                else -> {
                    shed = if (config.onFull == OnFullQueue.DROP_LOWEST) queue.lastBelow(task.level) else null
                    shed?.let { takeOut(it, TaskEnd.SHED) }
                    if (shed != null) link(task) else refusal = TaskEnd.REJECTED
                }
            }
            if (task.isWaiting) accept(task)
            refusal?.let { end(task, it) }
        }
        shed?.refuse(TaskEnd.SHED)
        refusal?.let(task::refuse)
    }

    /** Invariant 6. */
    private fun leaveInInbox(task: TaskEntry) {
        val now = queue.now()
        task.since = now
        inbox.add(task)
        if (inbox.isOpen) return
        decide(now) { if (!isOpen) admitAll(areLate = true) }
        if (task.isTooLate) task.refuse(TaskEnd.CLOSED)
    }

    /** Queues what is in [inbox], unless that was left there too late. */
    private fun takeIn() {
        if (!inbox.isEmpty && isOpen) admitAll(areLate = false)
    }

    /** Queues what is in [inbox], or, where the intake has ended, ends it: whoever has left it there refuses it then. */
    private fun admitAll(areLate: Boolean) {
        var first = inbox.takeAll()
        while (first != null) {
            val task: TaskEntry = first
            first = task.next
            task.next = null
            counts.scheduled(task.level)
            if (task.place == Place.ENDED) {
                counts.ended(task.level, TaskEnd.WITHDRAWN)
            } else if (areLate) {
                end(task, TaskEnd.CLOSED)
                task.isTooLate = true
            } else {
                link(task)
                accept(task)
            }
        }
    }

    private fun accept(task: TaskEntry) {
        task.isAccepted = true
        unended++
    }

    /** The outcome of [task] is known: a value if [failure] is null. To say it again changes nothing. */
    fun ended(task: TaskEntry, failure: Throwable?, isCancelled: Boolean) {
        var isLast = false
        decide { now ->
            when {
                task.isWaiting -> takeOut(task, TaskEnd.WITHDRAWN)
                task.place == Place.RUNNING -> {
                    running--
                    counts.ran(task.level, maxOf(0, now - task.since))
                    val end = if (isCancelled) TaskEnd.CANCELLED else TaskEnd.FAILED
                    end(task, if (failure == null) TaskEnd.DONE else end)
                }
                else -> task.place = Place.ENDED
            }
            isLast = discharge(task)
        }
        if (isLast) ended.countDown()
    }

    /** The outcome of [task] is known. Whether it was the last that the intake has left. */
    private fun discharge(task: TaskEntry): Boolean {
        if (!task.isAccepted) return false
        task.isAccepted = false
        return --unended == 0 && !isOpen
    }

    /** The deadline of [task] has come. */
    fun expire(task: TaskEntry) {
        var isLate = false
        decide {
            isLate = task.isWaiting
            if (isLate) takeOut(task, TaskEnd.EXPIRED)
        }
        if (isLate) task.refuse(TaskEnd.EXPIRED)
    }

    /**
     * Takes [task] out of its line, or keeps it from ever standing in one; false if it has left. [ended] must follow,
     * unless its outcome [isKnown].
     */
    fun withdraw(task: TaskEntry, isKnown: Boolean = false): Boolean {
        var isWithdrawn = false
        var isLast = false
        decide {
            isWithdrawn = task.isWaiting || task.place == Place.NEW
            if (task.isWaiting) takeOut(task, TaskEnd.WITHDRAWN) else if (isWithdrawn) task.place = Place.ENDED
            if (isWithdrawn && isKnown) isLast = discharge(task)
        }
        if (isLast) ended.countDown()
        return isWithdrawn
    }

    fun pause() = decide { isPaused = true }

    fun resume() = decide { isPaused = false }

    fun resize(places: Int) = decide { maxConcurrency = places }

    fun drain() {
        var isOver = false
        decide {
            closeInbox()
            isOver = endIntake(Intake.DRAINING)
        }
        if (isOver) ended.countDown()
    }

    fun close(cause: Throwable?) {
        val left = ArrayList<TaskEntry>()
        var isOver = false
        decide {
            closeInbox()
            if (!isClosed) {
                closure = cause
                while (true) left += takeOut(queue.any() ?: outside.first ?: break, TaskEnd.CLOSED)
            }
            isOver = endIntake(Intake.CLOSED)
        }
        for (task in left) task.refuse(TaskEnd.CLOSED)
        if (isOver) ended.countDown()
    }

    /** What is there is queued, if the intake has not ended; whoever leaves a task there later begins a step. */
    private fun closeInbox() {
        inbox.isOpen = false
        takeIn()
    }

    /** Whether there is nothing left to wait for. */
    private fun endIntake(now: Intake): Boolean {
        if (intake < now) intake = now
        return unended == 0
    }

    /** Sets the level that the user wants; a queued task goes to the end of its new one. */
    fun prioritize(task: TaskEntry, priority: Priority) {
        look {
            task.own = priority
            move(task, task.wanted)
        }
    }

    /** Somebody of [level] begins to await [task]; false if it has ended. */
    fun lift(task: TaskEntry, level: Int): Boolean =
        look {
            val isThere = task.place != Place.ENDED
            if (isThere) task.awaits(level, 1)
            if (isThere && level < task.level) {
                counts.boosted(level)
                move(task, level)
            }
            isThere
        }

    /** Who had lifted [task] is gone. A queued one keeps the place that it has got. */
    fun sink(task: TaskEntry, level: Int) {
        look {
            task.awaits(level, -1)
            if (task.place == Place.RUNNING) move(task, task.wanted)
        }
    }

    private fun move(task: TaskEntry, level: Int) {
        val before = task.level
        if (level == before) return
        val isQueued = task.place == Place.QUEUED
        if (isQueued) queue.remove(task)
        task.level = level
        if (isQueued) queue.add(task)
        if (task.place == Place.RUNNING) counts.moved(before, level)
    }

    fun metrics(): TaskSchedulerMetrics {
        val now = queue.now()
        return look {
            val levels = RunQueue.LEVELS.indices.map { counts.ofLevel(it, queue.sizeOf(it), queue.headWait(it, now)) }
            TaskSchedulerMetrics(maxConcurrency, outside.size, levels)
        }
    }

    /** What starts nothing, and so takes in only what could not be started. */
    private inline fun <R> look(action: () -> R): R =
        synchronized(lock) {
            if (inbox.isOpen) takeIn()
            action()
        }

    /** One step: [decision], and all that follows from it. */
    private inline fun decide(now: Long = queue.now(), decision: (now: Long) -> Unit) {
        val isLive = isAlive()
        val starts: TaskEntry?
        val letIns: TaskEntry?
        synchronized(lock) {
            if (!isLive) this.isLive = false
            takeIn()
            decision(now)
            settle(now)
            starts = toStart
            letIns = toLetIn
            toStart = null
            lastToStart = null
            toLetIn = null
            lastToLetIn = null
        }
        if (letIns != null) letIn(letIns)
        if (starts != null) begin(starts)
    }

    /** Invariants 1, 2 and 6. */
    private fun settle(now: Long) {
        while (true) {
            while (hasRoom) chooseToLetIn(outside.first ?: break)
            if (queue.size > 0 && hasPlace) {
                chooseToStart(now)
                continue
            }
            val mayLeave = isBoundless && isLive && isOpen && !hasPlace
            if (inbox.isOpen == mayLeave) return
            if (mayLeave) inbox.isOpen = true else closeInbox()
        }
    }

    private fun chooseToLetIn(task: TaskEntry) {
        outside.remove(task)
        link(task)
        val last = lastToLetIn
        if (last == null) toLetIn = task else last.nextLetIn = task
        lastToLetIn = task
    }

    private fun chooseToStart(now: Long) {
        val task = queue.next(now, counts)
        val stoodAt = task.level
        task.place = Place.RUNNING
        val level = task.wanted
        if (level != stoodAt) task.level = level
        running++
        counts.started(stoodAt, level, maxOf(0, now - task.since))
        task.since = now
        val last = lastToStart
        if (last == null) toStart = task else last.next = task
        lastToStart = task
    }

    private fun link(task: TaskEntry) {
        task.place = Place.QUEUED
        queue.add(task)
    }

    /** Takes a task out of the line in which it stands. */
    private fun takeOut(task: TaskEntry, end: TaskEnd): TaskEntry {
        if (task.place == Place.AWAITING_CAPACITY) outside.remove(task) else queue.remove(task)
        return end(task, end)
    }

    private fun end(task: TaskEntry, end: TaskEnd): TaskEntry {
        task.place = Place.ENDED
        counts.ended(task.level, end)
        return task
    }

    private fun letIn(first: TaskEntry) {
        var task: TaskEntry? = first
        while (task != null) {
            val next = task.nextLetIn
            task.nextLetIn = null
            task.letIn()
            task = next
        }
    }

    /** At once, at any depth of the stack: the caller may block its thread until one of them has ended. */
    private fun begin(first: TaskEntry) {
        var task: TaskEntry? = first
        while (task != null) {
            val chosen: TaskEntry = task
            // Before it begins: another may use the field afterwards.
            task = chosen.next
            chosen.next = null
            chosen.begin()
        }
    }
}
