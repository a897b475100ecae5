package baton.scheduler.stages

import baton.waiting.FlatStack
import baton.waiting.InternalBatonApi
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.concurrent.Executor
import java.util.concurrent.ExecutorService

/**
 * Runs a task where [pool] or a dispatcher put it, and then, on the same thread, the one that got its place, and so on.
 *
 * To hand over each task would cost more than most tasks do: it wakes a thread up. Whoever was given this sees one
 * command instead, of up to 16 tasks. After that the next one goes to the end of the queue there, so that others who
 * use it have their turn; and at once, if whoever has it [knowsLevels], for there each task stands in line by itself.
 *
 * [next] is written by the thread of the row, and emptied by whoever takes the task from it, to have it run.
 */
@InternalBatonApi
public abstract class ThreadRow<T : Any>(first: T?, private val pool: Executor?, knowsLevels: Boolean) : Runnable {
    @Volatile
    private var next: T? = first

    /** On which it runs now. Others only compare it with themselves, and so never find it by mistake. */
    private var thread: Thread? = null

    /** How many tasks may yet begin in it. Of its thread. */
    private var left = if (knowsLevels) 1 else QUANTUM

    /** Runs [task] on this thread, to its end or as far as that goes. */
    protected abstract fun runHere(task: T)

    /** Has [task] run when the one that runs now has ended; false if that is to be done elsewhere. */
    public fun follow(task: T): Boolean {
        val current = Thread.currentThread()
        if (thread !== current || left == 0 || next != null) return false
        // What a pool does when it is shut down, or with an interrupt that a task has left, is its own affair.
        if (current.isInterrupted || (pool is ExecutorService && pool.isShutdown)) return false
        next = task
        return true
    }

    /** The task that is next, for whoever calls this to have it run. */
    @Suppress("UNCHECKED_CAST") // what has been written there
    public fun take(): T? = if (next == null) null else NEXT.getAndSet(this, null) as T?

    /** As [take], if [task] is next. */
    public fun take(task: T): Boolean = next === task && NEXT.compareAndSet(this, task, null)

    final override fun run() {
        thread = Thread.currentThread()
        while (true) {
            val task = take() ?: break
            left--
            try {
                runHere(task)
            } catch (e: Throwable) {
                FlatStack.report(e)
            }
        }
        thread = null
    }

    private companion object {
        private const val QUANTUM = 16

        private val NEXT: VarHandle =
            MethodHandles.lookup().findVarHandle(ThreadRow::class.java, "next", Any::class.java)
    }
}
