package baton.sync

import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Runnable

/** One thread. A task runs only when the test steps, and timers fire on command. */
class StepDispatcher : CoroutineDispatcher(), Delay {
    private val queue = ArrayDeque<Runnable>()
    private val timers = ArrayList<Runnable>()

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        queue.addLast(block)
    }

    /** Runs the block that was dispatched first; returns false when there is none. */
    fun step(): Boolean {
        (queue.removeFirstOrNull() ?: return false).run()
        return true
    }

    /** Whether a timer was set that no caller has stopped. */
    val hasTimers: Boolean
        get() = timers.isNotEmpty()

    fun fireTimers() {
        val due = timers.toList()
        timers.clear()
        due.forEach(Runnable::run)
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle {
        timers += block
        return DisposableHandle { timers -= block }
    }

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        timers += Runnable { with(continuation) { resumeUndispatched(Unit) } }
    }
}
