package baton.waiting.threads

import baton.InternalBatonApi
import java.util.ArrayDeque

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

    private const val DEPTH = 0
    private const val DEFERRED = 1

    /**
     * How many resumptions nest on a thread, and how many are deferred. Threads of a pool keep this value, so it is of
     * a class of the JDK: another one would keep its class loader after the end of an application.
     */
    private val frames = ThreadLocal.withInitial { IntArray(2) }

    /** The deferred resumptions of a thread, while there are some. */
    private val deferred = ThreadLocal<ArrayDeque<() -> Unit>>()

    /** Whether one more level may nest; if so, [leave] must follow. */
    @JvmStatic
    public fun enter(): Boolean {
        val frame = frames.get()
        if (frame[DEPTH] >= LEVELS) return false
        frame[DEPTH]++
        return true
    }

    @JvmStatic
    public fun leave() {
        val frame = frames.get()
        runDeferred(frame)
        frame[DEPTH]--
    }

    /** Whether one more level may nest on this thread. */
    internal val hasRoom: Boolean
        get() = frames.get()[DEPTH] < LEVELS

    /** Runs [call] as one more level. */
    internal fun <T> nested(call: () -> T): T {
        val frame = frames.get()
        frame[DEPTH]++
        try {
            return call()
        } finally {
            runDeferred(frame)
            frame[DEPTH]--
        }
    }

    /** Runs [resumption] now, or after the outermost one of this thread if [LEVELS] of them nest. */
    public fun run(resumption: () -> Unit) {
        val frame = frames.get()
        if (frame[DEPTH] >= LEVELS) return defer(frame, resumption)
        frame[DEPTH]++
        try {
            guarded(resumption)
            runDeferred(frame)
        } finally {
            frame[DEPTH]--
        }
    }

    private fun defer(frame: IntArray, resumption: () -> Unit) {
        val queue = deferred.get() ?: ArrayDeque<() -> Unit>().also(deferred::set)
        queue.addLast(resumption)
        frame[DEFERRED]++
    }

    /** The outermost resumption, a coroutine's or a future's, runs the deferred ones. */
    private fun runDeferred(frame: IntArray) {
        if (frame[DEPTH] > 1 || frame[DEFERRED] == 0) return
        val queue = deferred.get()
        while (frame[DEFERRED] > 0) {
            frame[DEFERRED]--
            guarded(queue.removeFirst())
        }
        deferred.remove()
    }

    /** Runs [resumption], which is or calls user code. */
    public inline fun guarded(resumption: () -> Unit) {
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
