package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.waiting.threads.Trampoline

/*
 * How it works
 *
 * At most `parallelism` blocks of this run queue run at a time. It enqueues WorkerSlots in its parent. A slot carries
 * no block: when the parent picks the slot, this run queue selects the block that it runs.
 *
 * For a level l, let waiting(l) be the number of blocks queued here at l or a more urgent level, slots(l) the number of
 * slots at l or a more urgent level that are queued in the parent or about to be, and free = parallelism - running.
 *
 * (1) slots(l) >= min(free, waiting(l)) for every level l. So no block here waits behind less urgent work in the
 *     parent, and while fewer than `parallelism` blocks run, there is a slot for each block that may run next.
 * (2) A picked slot does nothing if `parallelism` blocks run already, or if no block is queued here at the slot's level
 *     or a more urgent one. The parent does not count that as a pick and does not record it in its selector. So the
 *     parent's bounds are exact, whatever slots are queued there, and no block runs in a slot more urgent than all
 *     queued blocks.
 * (3) Each step keeps (1) by adding at most one slot, at the most urgent level at which (1) would otherwise fail. A
 *     block that is enqueued raises waiting(l) by one, a block that ends raises free by one, and a slot that is picked
 *     lowers slots(l) by one.
 * (4) A slot that is not needed any more, because a more urgent one was added, stays queued. A slot is added at l only
 *     if slots(l) < free. So at most `parallelism` slots are queued at each level.
 * (5) The selector records each selected block, under the lock, with the levels that have work at that time. So the
 *     view passes the head of level l over at most bound(l) times.
 *
 * A thread that holds the lock may take the lock of a view over this one, when it selects a slot of that view; never the
 * other way round.
 */
internal open class LimitedRunQueue(private val parent: RunQueue, override val parallelism: Int) :
    LockedRunQueue(parent.root.policy) {
    /** How many slots are queued in the parent at each level, or about to be. */
    private val queuedSlots = IntArray(LEVELS.size)
    private var running = 0

    private val free: Int
        get() = parallelism - running

    override val root: PriorityRunQueue
        get() = parent.root

    init {
        root.boosts.add(this)
    }

    override fun enqueue(level: Int, block: Runnable) {
        val entry = entryOf(block)
        val slot = locked {
            // An allocation may fail, so each one comes before the state changes.
            val missing = levelOfMissingSlot(added = level)
            val slot = if (missing < 0) null else newSlot(missing)
            add(level, entry)
            if (slot != null) queuedSlots[missing]++
            slot
        }
        try {
            slot?.enqueue(parent)
        } catch (e: Throwable) {
            // Unless another slot has run the block, the caller may take it for refused.
            if (remove(level, block)) throw e
        }
    }

    /** Invariant 3: the level at which a slot is missing, or -1. A block is about to be added at the level [added]. */
    private fun levelOfMissingSlot(added: Int = -1): Int {
        val free = free
        if (free == 0) return -1
        var queuedSlots = 0
        var waiting = 0
        for (level in LEVELS.indices) {
            queuedSlots += this.queuedSlots[level]
            waiting += sizeOf(level)
            if (level == added) waiting++
            if (queuedSlots < minOf(free, waiting)) return level
        }
        return -1
    }

    /** Open for tests, in which it fails. */
    protected open fun newSlot(level: Int): WorkerSlot = WorkerSlot(this, level)

    /**
     * Invariant 3. The caller enqueues the returned slot in the parent after it has released the lock. Where there is
     * no memory for a slot, it is [spent], one that does nothing more; without one the next step adds what is missing.
     */
    private fun addMissingSlot(spent: WorkerSlot?): WorkerSlot? {
        val level = levelOfMissingSlot()
        if (level < 0) return null
        val slot =
            try {
                newSlot(level)
            } catch (_: OutOfMemoryError) {
                spent?.also { it.level = level }
            }
        if (slot != null) queuedSlots[level]++
        return slot
    }

    /** The parent has no memory for [slot], which is not queued there. */
    fun uncount(slot: WorkerSlot) = locked { queuedSlots[slot.level]-- }

    /**
     * The parent has picked [slot]. Returns whether the slot runs a block. In both cases another slot may have to be
     * enqueued in the [parent].
     */
    fun beginSlot(slot: WorkerSlot): Boolean = locked {
        queuedSlots[slot.level]--
        // Invariant 2.
        val block = if (free > 0) pick(slot.level) else null
        if (block != null) running++
        slot.block = block
        if (block is WorkerSlot) block.takeMissingSlot()?.let(::addSlot)
        slot.missingSlot = addMissingSlot(spent = if (block == null) slot else null)
        block != null
    }

    /** The block of [slot] has returned. */
    fun endBlock(slot: WorkerSlot) {
        val missing = locked {
            running--
            addMissingSlot(spent = slot)
        }
        missing?.enqueue(parent)
    }

    override fun hasWorkAbove(level: Int): Boolean = super.hasWorkAbove(level) || parent.hasWorkAbove(level)

    /** Whether a slot of [level] would run a block now. */
    fun canBegin(level: Int): Boolean = locked { free > 0 && hasRunnableAbove(level + 1) }

    override fun metrics(): DispatcherMetrics = locked { metrics(workers = running + minOf(free, queuedSlots.sum())) }
}

/**
 * A slot of [queue], enqueued in its parent at [level], which changes only while it is not enqueued. When the parent
 * picks it, [queue] selects the block to run.
 */
internal class WorkerSlot(private val queue: LimitedRunQueue, var level: Int) : Runnable {
    /** The selected block. Written under the lock of [queue], as is [missingSlot]. */
    var block: Runnable? = null

    /** Another slot that [queue] needs in its parent since this one was picked. */
    var missingSlot: WorkerSlot? = null

    /** If [parent] has no memory for this, it throws, and the view does not count on this slot. */
    fun enqueue(parent: RunQueue) {
        try {
            parent.enqueue(level, this)
        } catch (e: Throwable) {
            withdraw()
            throw e
        }
    }

    /** This is not in the parent's queue. */
    fun withdraw() = queue.uncount(this)

    /** The parent has picked this. Returns whether it runs a block. The parent then takes the missing slot. */
    fun begin(): Boolean = queue.beginSlot(this)

    fun takeMissingSlot(): WorkerSlot? = missingSlot.also { missingSlot = null }

    override fun run() {
        try {
            block?.run()
        } catch (e: Throwable) {
            Trampoline.report(e)
        } finally {
            queue.endBlock(this)
        }
    }

    companion object {
        /** Whether [entry] of a queue is a block that may begin, or a slot that would run one. */
        fun canBegin(entry: Runnable): Boolean = entry !is WorkerSlot || entry.queue.canBegin(entry.level)
    }
}
