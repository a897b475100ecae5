package baton.scheduler.dispatch

import baton.Boosting.Boost
import baton.Priority
import baton.PriorityController
import baton.PriorityElement
import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityDispatcher
import baton.waiting.threads.DispatcherOver
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher

/**
 * A dispatcher that enqueues in [queue]. Blocks have the level [pinned], or, if that is null, the level in their
 * context, else [default].
 */
internal open class DispatcherView(
    private val queue: RunQueue,
    private val pinned: Priority?,
    private val default: Priority,
    final override val name: String?,
) : PriorityDispatcher(), DispatcherOver {
    final override val underlying: CoroutineDispatcher
        get() = queue.root.underlying

    internal val boosts = queue.root.boosts

    final override val parallelism: Int
        get() = queue.parallelism

    final override val metrics: DispatcherMetrics
        get() = queue.metrics()

    final override fun dispatch(context: CoroutineContext, block: Runnable) {
        val epoch = boosts.epoch
        val base = baseLevel(context).ordinal
        val level = if (epoch == 0) base else boosts.boostedLevel(context, base)
        queue.enqueue(level, block)
        if (boosts.epoch != epoch) moveIfLevelChanged(context, block, level)
    }

    /** Levels have changed while the calling thread enqueued [block] at [level]. */
    private fun moveIfLevelChanged(context: CoroutineContext, block: Runnable, level: Int) {
        val now = levelIn(context)
        if (now != level && queue.remove(level, block)) dispatch(context, block)
    }

    fun levelIn(context: CoroutineContext): Int = boosts.boostedLevel(context, baseLevel(context).ordinal)

    private fun baseLevel(context: CoroutineContext): Priority {
        if (pinned != null) return pinned
        val element = context[PriorityElement] ?: return default
        if (element is PriorityController) element.follow(boosts)
        return element.level
    }

    final override fun levelOf(context: CoroutineContext): Priority = RunQueue.LEVELS[levelIn(context)]

    final override fun boost(context: CoroutineContext, level: Priority): Boost =
        boosts.boost(context, baseLevel(context).ordinal, level)

    final override fun isHigherWaiting(priority: Priority): Boolean = queue.hasWorkAbove(priority.ordinal)

    final override fun level(priority: Priority): PriorityDispatcher = viewOf(queue, priority, default, name)

    final override fun limitedParallelism(parallelism: Int, name: String?): PriorityDispatcher {
        require(parallelism >= 1) { "parallelism = $parallelism, must be at least 1" }
        if (parallelism >= queue.parallelism && name == null) return this
        return viewOf(LimitedRunQueue(queue, parallelism), pinned, default, name)
    }

    /** Called by kotlinx.coroutines before 1.9, and by code that was compiled against it. */
    @Deprecated("For kotlinx.coroutines before 1.9", level = DeprecationLevel.HIDDEN)
    final override fun limitedParallelism(parallelism: Int): PriorityDispatcher = limitedParallelism(parallelism, null)

    override fun toString(): String {
        val label = if (name == null) "PriorityDispatcher" else "PriorityDispatcher '$name'"
        val level = if (pinned == null) "" else "level = $pinned, "
        return "$label (${level}parallelism = $parallelism, over ${queue.root.underlying})"
    }
}
