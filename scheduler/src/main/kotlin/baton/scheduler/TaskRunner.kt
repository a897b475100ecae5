package baton.scheduler

import baton.Boosting
import baton.waiting.FlatStack
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable

/**
 * Runs a task where [dispatcher] put it, and then, on the same thread, the one that got its place, and so on. A task
 * that suspends leaves the runner: whoever has its place next gets another.
 *
 * A dispatch for each task would cost more than most tasks: it wakes a thread up. After [QUANTUM] tasks the runner goes
 * to the end of the dispatcher's queue, so that others who use it have their turn. On a dispatcher that knows levels
 * each task stands in line itself.
 */
internal class TaskRunner(private val dispatcher: CoroutineDispatcher, private var task: CoroutineTask<*>) : Runnable {
    /** On which it runs now. */
    @Volatile
    private var thread: Thread? = null
    private var next: CoroutineTask<*>? = null
    private val most = if (dispatcher is Boosting) 1 else QUANTUM
    private var ran = 0

    /** That of the task that it runs or is about to run. */
    val context: CoroutineContext get() = task.context

    fun dispatch() = dispatcher.dispatch(context, this)

    /** Has [task] run when the one that it runs now has ended; false if that is to be done elsewhere. */
    fun follow(task: CoroutineTask<*>): Boolean {
        if (thread !== Thread.currentThread() || next != null || ran >= most) return false
        next = task
        return true
    }

    override fun run() {
        ran = 0
        thread = Thread.currentThread()
        while (true) {
            ran++
            try {
                task.runHere(this)
            } catch (e: Throwable) {
                FlatStack.report(e)
            }
            task = next ?: break
            next = null
        }
        thread = null
    }

    private companion object {
        const val QUANTUM = 16
    }
}
