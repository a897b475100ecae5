package baton.scheduler.dispatch

import baton.Priority
import baton.scheduler.DispatcherMetrics
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/** Where blocks stand until it is their turn, a queue for each level. All members may be called from any thread. */
internal abstract class RunQueue {
    abstract val parallelism: Int

    /** The end of the line of lines: it knows which coroutines are lifted. */
    abstract val root: PriorityRunQueue

    /**
     * Whether a block that may begin waits at a level more urgent than [level], here or further on. If none does, this is
     * one volatile read for each line on the way to the root.
     */
    abstract fun hasWorkAbove(level: Int): Boolean

    /** Runs [block] once. Never throws. */
    abstract fun enqueue(level: Int, block: Runnable)

    /**
     * Takes out a block that nobody runs yet; false if it does not stand there any more. Takes time in proportion to
     * the queue.
     */
    abstract fun remove(level: Int, block: Runnable): Boolean

    /**
     * Those who stand in the queue of [level], in their order: all that have been there for a while, perhaps the
     * newest.
     */
    abstract fun blocks(level: Int): List<Runnable>

    abstract fun metrics(): DispatcherMetrics

    /** Moves those meant who stand below a level to the tail of the level that is theirs now, if it is another. */
    fun move(below: Int, isMeant: (CoroutineContext) -> Boolean) {
        for (level in below + 1..LEVELS.lastIndex) {
            for (block in blocks(level)) {
                val context = contextOf(block) ?: continue
                if (!isMeant(context)) continue
                val door = context[ContinuationInterceptor] as? DispatcherView ?: continue
                // Somebody else may change the level while the block stands nowhere, and not find it.
                var stands = level
                while (true) {
                    val now = door.levelIn(context)
                    if (now == stands || !remove(stands, block)) break
                    enqueue(now, block)
                    stands = now
                }
            }
        }
    }

    private fun contextOf(block: Runnable): CoroutineContext? = (block as? Continuation<*>)?.context

    companion object {
        val LEVELS: List<Priority> = Priority.entries
    }
}
