package baton.scheduler.dispatch

import baton.Boosting.Boost
import baton.Priority
import baton.PriorityController
import baton.PriorityElement
import baton.scheduler.DispatcherMetrics
import baton.scheduler.PriorityDispatcher
import kotlin.coroutines.CoroutineContext

/**
 * A way into [line]. [pinned] is the level of all who come this way, or null if their context says it, else [default].
 */
internal open class DispatcherView(
    private val line: RunQueue,
    private val pinned: Priority?,
    private val default: Priority,
    final override val name: String?,
) : PriorityDispatcher() {
    internal val lifts = line.root.lifts

    final override val parallelism: Int get() = line.parallelism

    final override val metrics: DispatcherMetrics get() = line.metrics()

    final override fun dispatch(context: CoroutineContext, block: Runnable) {
        val epoch = lifts.epoch
        val own = ownLevel(context).ordinal
        val level = if (epoch == 0) own else lifts.lifted(context, own)
        line.enqueue(level, block)
        if (lifts.epoch != epoch) follow(context, block, level)
    }

    /** Levels have changed while [block] was on its way to [level]. */
    private fun follow(context: CoroutineContext, block: Runnable, level: Int) {
        val now = levelIn(context)
        if (now != level && line.remove(level, block)) dispatch(context, block)
    }

    fun levelIn(context: CoroutineContext): Int = lifts.lifted(context, ownLevel(context).ordinal)

    private fun ownLevel(context: CoroutineContext): Priority {
        if (pinned != null) return pinned
        val element = context[PriorityElement] ?: return default
        if (element is PriorityController) element.follow(lifts)
        return element.level
    }

    final override fun levelOf(context: CoroutineContext): Priority = RunQueue.LEVELS[levelIn(context)]

    final override fun boost(context: CoroutineContext, level: Priority): Boost =
        lifts.lift(context, ownLevel(context).ordinal, level)

    final override fun isHigherWaiting(priority: Priority): Boolean = line.hasWorkAbove(priority.ordinal)

    final override fun level(priority: Priority): PriorityDispatcher = viewOf(line, priority, default, name)

    final override fun limitedParallelism(parallelism: Int, name: String?): PriorityDispatcher {
        require(parallelism >= 1) { "parallelism must be at least 1, was $parallelism" }
        if (parallelism >= line.parallelism && name == null) return this
        return viewOf(LimitedRunQueue(line, parallelism), pinned, default, name)
    }

    override fun toString(): String {
        val label = if (name == null) "PriorityDispatcher" else "PriorityDispatcher '$name'"
        val level = if (pinned == null) "" else "level = $pinned, "
        return "$label (${level}parallelism = $parallelism, over ${line.root.under})"
    }
}
