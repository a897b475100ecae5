package baton.waiting.threads

import baton.InternalBatonApi

/**
 * Keeps the stack flat where a resumption runs the waiter's code at once: that code may release again, which resumes
 * the next waiter, and so on.
 *
 * Up to [LEVELS] such resumptions of a thread nest. Deeper ones are deferred until the outermost has returned
 * (coroutines without a dispatcher), or are handed to an executor (futures, see [enter]). Some levels nest on purpose:
 * code that releases and then blocks its thread until the next holder is done would otherwise deadlock.
 */
@InternalBatonApi
public object Trampoline {
    /** How many resumptions of one thread may nest. */
    internal const val LEVELS = 8

    private class Frame {
        var depth = 0
        val deferred = ArrayDeque<() -> Unit>()
    }

    private val frames = ThreadLocal.withInitial { Frame() }

    /** Whether one more level may nest; if so, [leave] must follow. */
    @JvmStatic
    public fun enter(): Boolean {
        val frame = frames.get()
        if (frame.depth >= LEVELS) return false
        frame.depth++
        return true
    }

    @JvmStatic
    public fun leave() {
        val frame = frames.get()
        runDeferred(frame)
        frame.depth--
    }

    /** Whether one more level may nest on this thread. */
    internal val hasRoom: Boolean
        get() = frames.get().depth < LEVELS

    /** Runs [call] as one more level. */
    internal fun <T> nested(call: () -> T): T {
        val frame = frames.get()
        frame.depth++
        try {
            return call()
        } finally {
            runDeferred(frame)
            frame.depth--
        }
    }

    /** Runs [resumption] now, or after the outermost one of this thread if [LEVELS] of them nest. */
    public fun run(resumption: () -> Unit) {
        val frame = frames.get()
        if (frame.depth >= LEVELS) {
            frame.deferred.addLast(resumption)
            return
        }
        frame.depth++
        try {
            guarded(resumption)
            runDeferred(frame)
        } finally {
            frame.depth--
        }
    }

    /** The outermost resumption, a coroutine's or a future's, runs the deferred ones. */
    private fun runDeferred(frame: Frame) {
        if (frame.depth > 1) return
        while (true) guarded(frame.deferred.removeFirstOrNull() ?: break)
    }

    /** Runs [resumption], which is or calls user code. */
    internal inline fun guarded(resumption: () -> Unit) {
        try {
            resumption()
        } catch (e: Throwable) {
            report(e)
        }
    }

    /**
     * Reports what a waiter's code or a callback threw past its own completion: the releasing thread must not see it.
     */
    @JvmStatic
    public fun report(e: Throwable) {
        val thread = Thread.currentThread()
        try {
            thread.uncaughtExceptionHandler.uncaughtException(thread, e)
        } catch (_: Throwable) {
            // As in the JVM, an exception of the handler is ignored. The remaining waiters are still to be woken.
        }
    }
}
