package baton.waiting.coroutine

import baton.waiting.InternalBatonApi

/**
 * Keeps the stack flat where a resumption runs the waiter's code at once: that code may release again, which resumes
 * the next one, and so on.
 *
 * Up to [LEVELS] such resumptions of a thread nest. Deeper ones are put off until the outermost has returned
 * (coroutines without a dispatcher), or are handed to an executor (futures, see [enter]). Some levels nest on purpose:
 * code that releases and then blocks its thread until the next holder is done would wait for ever if nothing did.
 */
@InternalBatonApi
public object Trampoline {
    /** How many resumptions of one thread may stand on each other. */
    internal const val LEVELS = 8

    private class Frame {
        var depth = 0
        val putOff = ArrayDeque<() -> Unit>()
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
        runPutOff(frame)
        frame.depth--
    }

    /** Whether one more level may nest on this thread. */
    internal val hasRoom: Boolean get() = frames.get().depth < LEVELS

    /** Runs [call] as one more level. */
    internal fun <T> nested(call: () -> T): T {
        val frame = frames.get()
        frame.depth++
        try {
            return call()
        } finally {
            runPutOff(frame)
            frame.depth--
        }
    }

    /** Runs [resumption] now, or after the outermost one of this thread when [LEVELS] of them stand on each other. */
    public fun run(resumption: () -> Unit) {
        val frame = frames.get()
        if (frame.depth >= LEVELS) {
            frame.putOff.addLast(resumption)
            return
        }
        frame.depth++
        try {
            guarded(resumption)
            runPutOff(frame)
        } finally {
            frame.depth--
        }
    }

    /** The outermost one, a coroutine's or a future's, runs what those on top of it have put off. */
    private fun runPutOff(frame: Frame) {
        if (frame.depth > 1) return
        while (true) guarded(frame.putOff.removeFirstOrNull() ?: break)
    }

    /** Runs [resumption], which is the user's code or leads there. */
    internal inline fun guarded(resumption: () -> Unit) {
        try {
            resumption()
        } catch (e: Throwable) {
            report(e)
        }
    }

    /** What a waiter's code, or a callback, throws past its own completion is not the business of whoever released. */
    @JvmStatic
    public fun report(e: Throwable) {
        val thread = Thread.currentThread()
        try {
            thread.uncaughtExceptionHandler.uncaughtException(thread, e)
        } catch (_: Throwable) {
            // As the JVM does: what a handler throws is ignored. Others still wait to be woken.
        }
    }
}
