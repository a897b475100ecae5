package baton.waiting.coroutine

import kotlin.coroutines.intrinsics.suspendCoroutineUninterceptedOrReturn
import kotlin.coroutines.jvm.internal.CoroutineStackFrame

/**
 * Puts the frames of the coroutine that waited at [waiter] on top of the stack trace of this exception, which is new
 * and not shared. A coroutine that resumes has only the thread that runs it on the stack; without these frames the
 * trace does not say where the coroutine waited.
 *
 * kotlinx.coroutines adds such frames to the exceptions of its own calls, in a copy, and only where it runs in debug
 * mode. Nothing is copied here, so this needs no debug mode.
 */
internal fun <E : Throwable> E.withFramesOf(waiter: CoroutineStackFrame): E {
    try {
        val frames = framesOf(waiter)
        if (frames.isNotEmpty()) stackTrace = (frames + RESUMED_BY + stackTrace).toTypedArray()
    } catch (_: Throwable) {
        // The metadata of the frames is of another version of Kotlin, or the stack is full. The failure itself counts.
    }
    return this
}

/** As [withFramesOf], of the calling coroutine, which has waited. Only on a failing path: the call makes a frame. */
internal suspend fun <E : Throwable> E.withCallerFrames(): E = suspendCoroutineUninterceptedOrReturn { caller ->
    if (caller is CoroutineStackFrame) withFramesOf(caller) else this
}

private fun framesOf(waiter: CoroutineStackFrame): List<StackTraceElement> {
    val found = ArrayList<StackTraceElement>()
    var frame: CoroutineStackFrame? = waiter
    var left = MAX_FRAMES
    while (frame != null && left-- > 0) {
        frame.getStackTraceElement()?.let(found::add)
        frame = frame.callerFrame
    }
    return found
}

/** As many as the JVM keeps of a stack by default. A recursion may suspend far deeper. */
private const val MAX_FRAMES = 1024

/** Ends the frames of the coroutine. kotlinx takes a trace with its own boundary in it for one of its copies. */
private val RESUMED_BY = StackTraceElement("baton", "_RESUMED_BY_", "CallerFrames.kt", -1)
