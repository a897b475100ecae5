package baton.scheduler

import baton.Boosting
import baton.scheduler.stages.ThreadRow
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExecutorCoroutineDispatcher

/**
 * Runs [first] where [dispatcher] puts it, and those that follow it. A task that suspends leaves the row: whoever has
 * its place next gets another.
 */
internal class TaskRunner(private val dispatcher: CoroutineDispatcher, private var first: CoroutineTask<*>?) :
    ThreadRow<CoroutineTask<*>>(
        first,
        pool = (dispatcher as? ExecutorCoroutineDispatcher)?.executor,
        knowsLevels = dispatcher is Boosting,
    ) {
    /** While it stands in a queue of the dispatcher, which knows its level by this; it keeps no task that has run. */
    val context: CoroutineContext? get() = first?.context

    fun dispatch(context: CoroutineContext) = dispatcher.dispatch(context, this)

    override fun runHere(task: CoroutineTask<*>) {
        first = null
        task.runHere(this)
    }
}
