@file:JvmSynthetic

package baton.test.interleaving

import baton.monitoring.core.callOfInlined
import kotlin.coroutines.jvm.internal.CoroutineStackFrame

/**
 * The line of the user's code at which the coroutine with this innermost [frame] has suspended; null if it has not
 * started. Relies on continuations being `CoroutineStackFrame`s, as the stack traces of coroutines do.
 */
internal fun lineOf(frame: CoroutineStackFrame): String? {
    val elements = elementsFrom(frame)
    return (elements.firstOrNull { !isLibrary(it.className) } ?: elements.firstOrNull())?.let(::text)
}

/** The line of the outermost function of the coroutine with this innermost [frame]. */
internal fun outermostLineOf(frame: CoroutineStackFrame): String? =
    elementsFrom(frame).lastOrNull { !isLibrary(it.className) }?.let(::text)

/** The elements that have a line, from the innermost on. */
private fun elementsFrom(frame: CoroutineStackFrame): Sequence<StackTraceElement> =
    generateSequence(frame) { it.callerFrame }.take(MAX_FRAMES).mapNotNull(::elementOf).filter { it.lineNumber > 0 }

/** The line of a frame that is the user's code; null if it is not. */
internal fun lineOf(element: StackTraceElement): String? =
    if (isLibrary(element.className) || element.lineNumber <= 0) null else text(element)

private fun elementOf(frame: CoroutineStackFrame): StackTraceElement? =
    try {
        frame.getStackTraceElement()?.let(::callOfInlined)
    } catch (_: Throwable) {
        null // The metadata of the frame is of another version of Kotlin.
    }

private fun text(element: StackTraceElement): String {
    val place = "(${element.fileName}:${element.lineNumber})"
    return if (element.methodName == LAMBDA) place else element.methodName + place
}

private fun isLibrary(className: String): Boolean = LIBRARIES.any(className::startsWith)

private const val LAMBDA = "invokeSuspend"
private const val MAX_FRAMES = 1024
private val LIBRARIES =
    listOf("kotlin.", "kotlinx.coroutines.") +
        listOf(
                "sync",
                "channels",
                "waiting",
                "tasks",
                "parallel",
                "distributed",
                "resilience",
                "batch",
                "scheduler",
                "test.interleaving",
                "test.simulation",
            )
            .map { "baton.$it." } +
        "baton.test.SimulationRun"
