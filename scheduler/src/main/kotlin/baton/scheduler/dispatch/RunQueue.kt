package baton.scheduler.dispatch

import baton.Priority
import baton.scheduler.DispatcherMetrics
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/** Queues of dispatched blocks, one for each level. All members may be called from any thread. */
internal abstract class RunQueue {
    abstract val parallelism: Int

    /** The last run queue in the chain of parents; it knows which coroutines are boosted. */
    abstract val root: PriorityRunQueue

    /**
     * Whether a block that may begin waits at a level more urgent than [level], here or in a parent. If none does, this
     * costs one volatile read for each run queue on the way to the root.
     */
    abstract fun hasWorkAbove(level: Int): Boolean

    /** Runs [block] once. Never throws. */
    abstract fun enqueue(level: Int, block: Runnable)

    /**
     * Takes out a block that no thread has begun to run. Returns false if it is not in the queue any more. Takes time
     * proportional to the length of the queue.
     */
    abstract fun remove(level: Int, block: Runnable): Boolean

    /**
     * The blocks in the queue of [level], in order. Contains all blocks that were queued before the call and not taken
     * out; may contain blocks that are added meanwhile.
     */
    abstract fun blocks(level: Int): List<Runnable>

    abstract fun metrics(): DispatcherMetrics

    /**
     * Moves affected blocks that are queued below a level to the tail of their current level, if that is another one.
     */
    fun moveBlocks(below: Int, isAffected: (CoroutineContext) -> Boolean) {
        for (level in below + 1..LEVELS.lastIndex) {
            for (block in blocks(level)) {
                val context = contextOf(block) ?: continue
                if (!isAffected(context)) continue
                val view = context[ContinuationInterceptor] as? DispatcherView ?: continue
                // Another thread may change the level while the block is in no queue, and then does not find it.
                var queuedAt = level
                while (true) {
                    val now = view.levelIn(context)
                    if (now == queuedAt || !remove(queuedAt, block)) break
                    enqueue(now, block)
                    queuedAt = now
                }
            }
        }
    }

    private fun contextOf(block: Runnable): CoroutineContext? = (block as? Continuation<*>)?.context

    companion object {
        val LEVELS: List<Priority> = Priority.entries
    }
}
