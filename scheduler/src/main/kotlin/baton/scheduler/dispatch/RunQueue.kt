package baton.scheduler.dispatch

import baton.Priority
import baton.scheduler.DispatcherMetrics
import baton.waiting.threads.TinyLock

/** Queues of dispatched blocks, one for each level. All members may be called from any thread. */
internal abstract class RunQueue : TinyLock() {
    abstract val parallelism: Int

    /** The last run queue in the chain of parents; it knows which coroutines are boosted. */
    abstract val root: PriorityRunQueue

    /**
     * Whether a block that may begin waits at a level more urgent than [level], here or in a parent. If none does, this
     * costs one volatile read for each run queue on the way to the root.
     */
    abstract fun hasWorkAbove(level: Int): Boolean

    /** Runs [block] once. Throws only where memory is exhausted, and then does not run it. */
    abstract fun enqueue(level: Int, block: Runnable)

    /**
     * Takes out a block that no thread has begun to run. Returns false if it is not in the queue any more. Takes time
     * proportional to the number of blocks behind it, or, if it is gone, to the length of the queue.
     */
    abstract fun remove(level: Int, block: Runnable): Boolean

    abstract fun metrics(): DispatcherMetrics

    companion object {
        val LEVELS: List<Priority> = Priority.entries
    }
}
