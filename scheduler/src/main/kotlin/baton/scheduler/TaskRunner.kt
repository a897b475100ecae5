package baton.scheduler

import baton.Boosting
import baton.waiting.FlatStack
import java.util.concurrent.ExecutorService
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.ExecutorCoroutineDispatcher
import kotlinx.coroutines.Runnable

/**
 * Runs a task where [dispatcher] put it, and then, on the same thread, the one that got its place, and so on. A task
 * that suspends leaves the runner: whoever has its place next gets another.
 *
 * A dispatch for each task would cost more than most tasks: it wakes a thread up. After [QUANTUM] tasks the next
 * one goes to the end of the dispatcher's queue, so that others who use it have their turn. On a dispatcher that knows
 * levels each task stands in line itself.
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
        val current = Thread.currentThread()
        if (thread !== current || next != null || ran >= most) return false
        // What a pool does when it is shut down, or with an interrupt that a task has left, is its own affair.
        if (current.isInterrupted || isShutDown()) return false
        next = task
        return true
    }

    private fun isShutDown(): Boolean {
        val executor = (dispatcher as? ExecutorCoroutineDispatcher)?.executor
        return executor is ExecutorService && executor.isShutdown
    }

    override fun run() {
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
