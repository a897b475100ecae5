package baton.scheduler.tasks

import baton.waiting.threads.Trampoline
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CoroutineDispatcher

/**
 * The start of [task], as it is dispatched: one dispatch for each task. A dispatcher may throw after it has queued
 * this, run it twice or drop it, and the task may be cancelled: the first of these events takes the start.
 *
 * This is dispatched at once, at any depth of the caller's stack, because the caller may block its thread until the
 * task has ended. Only where the dispatcher runs this in place, on the stack of the task that ended before, does the
 * [Trampoline] postpone deep starts.
 */
internal class TaskStart(private val task: CoroutineTask<*>) : Runnable, Continuation<Unit> {
    override val context: CoroutineContext
        get() = task.context

    private val sender = Thread.currentThread()

    /** Written and read by [sender] alone. */
    private var isDispatched = false

    fun dispatchTo(interceptor: ContinuationInterceptor?) {
        try {
            when (interceptor) {
                is CoroutineDispatcher -> interceptor.dispatch(context, this)
                null -> run()
                else -> interceptor.interceptContinuation(this).resume(Unit)
            }
        } catch (e: Throwable) {
            if (task.takeStart()) task.failToStart(e)
        } finally {
            isDispatched = true
        }
    }

    override fun resumeWith(result: Result<Unit>) = run()

    /** In the message of an executor that rejects it. */
    override fun toString(): String = task.label

    override fun run() {
        if (!task.takeStart()) return
        if (Thread.currentThread() === sender && !isDispatched) return Trampoline.run(task::runHere)
        try {
            task.runHere()
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
    }
}
