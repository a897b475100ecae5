package baton.scheduler.dispatch

import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityPolicy
import java.util.concurrent.ThreadLocalRandom
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/**
 * The queues of the levels and the selection of the next block, under a lock that guards all state of the run queue.
 * While a thread holds it, it runs no block and dispatches nothing.
 */
internal abstract class LockedRunQueue(policy: PriorityPolicy) : RunQueue() {
    /** The queue of a level is created for its first block: most dispatchers use one or two levels. */
    private val queues = arrayOfNulls<LevelQueue>(LEVELS.size)
    private val selector = policy.newSelector()

    /** The levels that have blocks. */
    private var mask = 0

    protected fun sizeOf(level: Int): Int = queues[level]?.size ?: 0

    /**
     * The entry to add for [block]. Waits are measured for one block in [SAMPLING_INTERVAL], because reading the clock
     * for each would cost more than the pick.
     */
    protected fun entryOf(block: Runnable): Runnable {
        val isSampled = ThreadLocalRandom.current().nextInt() and (SAMPLING_INTERVAL - 1) == 0
        return if (isSampled && block !is WorkerSlot) LevelQueue.Sampled(block) else block
    }

    /** Under the lock. */
    protected fun add(level: Int, entry: Runnable) {
        val queue = queues[level] ?: LevelQueue().also { queues[level] = it }
        queue.add(entry)
        mask = mask or (1 shl level)
    }

    /** Adds [slot] in a step that goes on where there is no memory for it. Under the lock. */
    protected fun addSlot(slot: WorkerSlot) {
        try {
            add(slot.level, slot)
        } catch (_: OutOfMemoryError) {
            slot.withdraw()
        }
    }

    /**
     * Takes out the block that is next, if any waits at [leastUrgent] or above. A [WorkerSlot] that does not begin is
     * not picked; one that does may need another slot after it. Under the lock.
     */
    protected fun pick(leastUrgent: Int = LEVELS.lastIndex): Runnable? {
        while (hasWork(leastUrgent)) {
            val mask = mask
            val level = selector.select(mask)
            val queue = checkNotNull(queues[level])
            val entry = queue.poll()
            if (queue.size == 0) clearBit(level)
            if (entry is WorkerSlot && !entry.begin()) {
                entry.takeMissingSlot()?.let(::addSlot)
                continue
            }
            selector.recordSelected(level, mask)
            return queue.picked(entry, isOutOfOrder = level != mask.mostUrgent())
        }
        return null
    }

    private fun clearBit(level: Int) {
        mask = mask and (1 shl level).inv()
    }

    private fun hasWork(leastUrgent: Int): Boolean = mask and ((2 shl leastUrgent) - 1) != 0

    /** Whether a block waits at [leastUrgent] or above. Without the lock, so the value may be out of date. */
    protected fun seemsToHaveWork(leastUrgent: Int = LEVELS.lastIndex): Boolean {
        acquireReleased()
        return hasWork(leastUrgent)
    }

    override fun hasWorkAbove(level: Int): Boolean =
        level > 0 && seemsToHaveWork(level - 1) && locked { hasRunnableAbove(level) }

    /** Whether a block above [level] may begin now. Under the lock. */
    protected fun hasRunnableAbove(level: Int): Boolean =
        (0 until level).any { queues[it]?.any(WorkerSlot::canBegin) ?: false }

    override fun remove(level: Int, block: Runnable): Boolean = removeBy(level) { it.remove(block) }

    private inline fun removeBy(level: Int, remove: (LevelQueue) -> Boolean): Boolean = locked {
        val queue = queues[level]
        val isRemoved = queue != null && remove(queue)
        if (isRemoved && sizeOf(level) == 0) clearBit(level)
        isRemoved
    }

    /**
     * Moves affected blocks that are queued below a level to the tail of their current level, if that is another one.
     * Sees all blocks that were queued before the call and stay. It takes the lock for a few blocks at a time, and
     * looks at contexts, which may be users' code, without it.
     */
    fun moveBlocks(below: Int, isAffected: (CoroutineContext) -> Boolean) {
        for (level in below + 1..LEVELS.lastIndex) {
            var part = locked { queues[level]?.firstPart() }
            while (part != null) {
                val current = part
                for (block in current.blocks) {
                    val context = (block as? Continuation<*>)?.context
                    if (context != null && isAffected(context)) move(block, context, level, current)
                }
                part = locked { queues[level]?.partAfter(current) }
            }
        }
    }

    private fun move(block: Runnable, context: CoroutineContext, level: Int, part: LevelQueue.Part) {
        val view = context[ContinuationInterceptor] as? DispatcherView ?: return
        var queuedAt = view.levelIn(context)
        if (queuedAt == level || !removeBy(level) { it.remove(block, part.segment) }) return
        enqueue(queuedAt, block)
        // Another thread may change the level while the block is in no queue, and then does not find it.
        while (true) {
            val now = view.levelIn(context)
            if (now == queuedAt || !remove(queuedAt, block)) return
            enqueue(now, block)
            queuedAt = now
        }
    }

    /** Under the lock. */
    protected fun metrics(workers: Int): DispatcherMetrics =
        DispatcherMetrics(workers, queues.map { (it ?: NONE).metrics() })

    protected companion object {
        /** In blocks; a power of two. */
        private const val SAMPLING_INTERVAL = 64

        /** Of a level that has had no block. */
        private val NONE = LevelQueue()
    }
}
