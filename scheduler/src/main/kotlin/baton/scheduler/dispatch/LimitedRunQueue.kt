package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.scheduler.dispatch.Counts.Companion.blockOf
import baton.waiting.coroutine.Trampoline

/*
 * How it works
 *
 * At most `parallelism` blocks of this line run at a time. In the line beneath a WorkerSlot stands for a place. It
 * carries no block: when it is picked there, this line chooses the block that it runs.
 *
 * For a level l, let waiting(l) be the number of blocks that wait here at l or a more urgent level, standing(l) the
 * number of slots that stand at l or a more urgent level beneath, or are on their way there, and
 * free = parallelism - running.
 *
 * (1) standing(l) >= min(free, waiting(l)) for every level l. So no block waits here behind less urgent work beneath,
 *     and a free place gets its block.
 * (2) A slot that is picked does nothing if the view is full, or if no block waits here at the slot's level or a more
 *     urgent one. The line beneath does not count that as a pick and does not tell its picker. So the bounds beneath are
 *     exact, whatever slots stand there, and no block runs in a slot that is more urgent than all that waits.
 * (3) Each step keeps (1) with one new slot at most, at the most urgent level at which (1) would fail otherwise. A block
 *     that comes makes waiting(l) greater by one, a block that ends makes free greater by one, and a slot that is picked
 *     makes standing(l) smaller by one.
 * (4) A slot that is not needed any more, because a more urgent one was added, stays. A slot is added at l only if
 *     standing(l) < free. So at most `parallelism` slots stand at each level.
 * (5) Each block that is chosen is counted by the picker, under the lock, with the levels that have work at that time:
 *     the view passes the head of level l over bound(l) times at most.
 *
 * All of it is guarded by `lock`. While it is held no block runs, and nothing is enqueued beneath. The lock of a view over
 * this one may be taken while it is held (a slot of that view is picked here), never the other way round.
 */
internal class LimitedRunQueue(private val beneath: RunQueue, override val parallelism: Int) : RunQueue() {
    private val lock = Any()
    private val queues = Array(LEVELS.size) { ArrayDeque<Runnable>() }

    /** How many slots stand at each level. */
    private val standing = IntArray(LEVELS.size)
    private val picker = beneath.root.policy.picker()
    private val counts = Counts()
    private val picks = counts.local()
    private var running = 0

    /** The levels that have blocks. Written under the lock. */
    @Volatile
    private var mask = 0

    private val free: Int get() = parallelism - running

    override val root: PriorityRunQueue get() = beneath.root

    init {
        root.lifts.add(this)
    }

    override fun enqueue(level: Int, block: Runnable) {
        val entry = counts.sampled(block)
        val slot =
            synchronized(lock) {
                add(level, entry)
                missingSlot()
            }
        slot?.enqueue(beneath)
    }

    /** Invariant 3. To be enqueued beneath, without the lock. */
    private fun missingSlot(): WorkerSlot? {
        val free = free
        if (free == 0) return null
        var standing = 0
        var waiting = 0
        for (level in queues.indices) {
            standing += this.standing[level]
            waiting += queues[level].size
            if (standing >= minOf(free, waiting)) continue
            this.standing[level]++
            return WorkerSlot(this, level)
        }
        return null
    }

    /** [slot] was picked. Whether it runs a block; another slot may have to stand [beneath] in either case. */
    fun begin(slot: WorkerSlot): Boolean =
        synchronized(lock) {
            standing[slot.level]--
            slot.block = if (free > 0) choose(slot.level) else null
            if (slot.block != null) running++
            slot.missing = missingSlot()
            slot.block != null
        }

    /** Invariants 2 and 5. */
    private fun choose(slotLevel: Int): Runnable? {
        while (mask.isAtOrAbove(slotLevel)) {
            val mask = mask
            val level = picker.next(mask)
            val entry = queues[level].removeFirst()
            forgetIfEmpty(level)
            if (entry is WorkerSlot && !entry.begin { add(it.level, it) }) continue
            picker.served(level, mask)
            picks.count(level, isForced = level != mask.mostUrgent())
            picks.publish()
            return picks.started(entry, level)
        }
        return null
    }

    /** The block of a slot has ended. */
    fun end() {
        val slot =
            synchronized(lock) {
                running--
                missingSlot()
            }
        slot?.enqueue(beneath)
    }

    override fun hasWorkAbove(level: Int): Boolean =
        (level > 0 && mask.isAtOrAbove(level - 1) && synchronized(lock) { waitsAbove(level) }) ||
            beneath.hasWorkAbove(level)

    /** Whether a slot of [level] would run a block now. */
    fun canBegin(level: Int): Boolean = synchronized(lock) { free > 0 && waitsAbove(level + 1) }

    private fun waitsAbove(level: Int) = (0 until level).any { queues[it].any(WorkerSlot::canBegin) }

    private fun add(level: Int, entry: Runnable) {
        queues[level].addLast(entry)
        mask = mask or (1 shl level)
    }

    override fun remove(level: Int, block: Runnable): Boolean =
        synchronized(lock) {
            val index = queues[level].indexOfFirst { blockOf(it) === block }
            if (index >= 0) {
                queues[level].removeAt(index)
                forgetIfEmpty(level)
            }
            index >= 0
        }

    private fun forgetIfEmpty(level: Int) {
        if (queues[level].isEmpty()) mask = mask and (1 shl level).inv()
    }

    override fun blocks(level: Int): List<Runnable> = synchronized(lock) { queues[level].map(::blockOf) }

    override fun metrics(): DispatcherMetrics =
        synchronized(lock) {
            counts.metrics(workers = running + minOf(free, standing.sum())) { level -> queues[level].size }
        }

    private companion object {
        fun Int.isAtOrAbove(level: Int) = this and ((2 shl level) - 1) != 0
    }
}

/** A place of [line] in the line beneath, at [level], for the block that [line] chooses when it is picked there. */
internal class WorkerSlot(private val line: LimitedRunQueue, val level: Int) : Runnable {
    /** What it runs. Written under the lock of [line], as [missing]. */
    var block: Runnable? = null

    /** Another slot that [line] needs since this one was picked. */
    var missing: WorkerSlot? = null

    fun enqueue(beneath: RunQueue) = beneath.enqueue(level, this)

    /** The line beneath has picked this: whether it runs a block. [stand] puts a slot into the line beneath. */
    inline fun begin(stand: (WorkerSlot) -> Unit): Boolean {
        val begins = line.begin(this)
        missing?.let(stand)
        missing = null
        return begins
    }

    override fun run() {
        try {
            block?.run()
        } catch (e: Throwable) {
            Trampoline.report(e)
        } finally {
            line.end()
        }
    }

    companion object {
        /** Whether [entry] of a queue is a block that may begin, or stands for one. */
        fun canBegin(entry: Runnable): Boolean = entry !is WorkerSlot || entry.line.canBegin(entry.level)
    }
}
