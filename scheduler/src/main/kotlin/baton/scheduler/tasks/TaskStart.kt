package baton.scheduler.tasks

import baton.waiting.coroutine.Trampoline
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CoroutineDispatcher

/**
 * The block of [task] on its way through the dispatcher: one dispatch for each task. True once the task has been started,
 * has failed because the dispatcher threw, or was cancelled. A dispatcher may throw after it has queued this, run it
 * twice or drop it: the first of these events counts, by one compare-and-set.
 *
 * The dispatcher gets this at once, however deep the caller's stack is, for the caller may block its thread until the
 * task has ended. Only a dispatcher that runs this in place has deep starts put off: each task would stand on the one
 * that it follows.
 */
internal class TaskStart(private val task: CoroutineTask<*>) :
    AtomicBoolean(),
    Runnable,
    Continuation<Unit> {
    override val context: CoroutineContext get() = task.context

    private val sender = Thread.currentThread()

    /** Written and read by [sender] alone. */
    private var isSent = false

    fun sendTo(interceptor: ContinuationInterceptor?) {
        try {
            when (interceptor) {
                is CoroutineDispatcher -> interceptor.dispatch(context, this)
                null -> run()
                else -> interceptor.interceptContinuation(this).resume(Unit)
            }
        } catch (e: Throwable) {
            if (compareAndSet(false, true)) task.failToStart(e)
        } finally {
            isSent = true
        }
    }

    override fun resumeWith(result: Result<Unit>) = run()

    override fun run() {
        if (!compareAndSet(false, true)) return
        if (Thread.currentThread() === sender && !isSent) return Trampoline.run(task::runHere)
        try {
            task.runHere()
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
    }
}
