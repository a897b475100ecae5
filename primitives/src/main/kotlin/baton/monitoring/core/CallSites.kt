@file:JvmSynthetic

package baton.monitoring.core

import baton.waiting.holders.CallSite
import baton.waiting.holders.Holder
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds

private const val OURS = "baton."
private const val FRAMES = 4

/** The machinery of coroutines, which is below each of them. */
private val MACHINERY = listOf("kotlin.coroutines.", "kotlinx.coroutines.")

/** The call by which this caller took the lock, for a report. The first reads class files: see [callOfInlined]. */
internal fun Holder.reportedSite(): Throwable? {
    val site = takenAt
    if (site is CallSite && !site.hasLinesOfCalls) {
        site.stackTrace = site.stackTrace.map { if (isMachinery(it)) it else callOfInlined(it) }.toTypedArray()
        site.hasLinesOfCalls = true
    }
    return site
}

/** Since when this caller holds the lock; null if that was not noted. */
internal fun Holder.heldFor(): Duration? = heldSince?.let { forPeople(System.nanoTime() - it) }

/** Whole milliseconds are enough. */
internal fun forPeople(nanos: Long): Duration = nanos.nanoseconds.inWholeMilliseconds.milliseconds

internal fun since(time: Duration?): String = if (time == null) "" else " (for $time)"

private fun isMachinery(frame: StackTraceElement) = MACHINERY.any { frame.className.startsWith(it) }

/** That a lock was taken at [site], by the first frames outside of the libraries, if there are any. */
internal fun whereTaken(site: Throwable?): String {
    if (site == null) return ""
    val trace = site.stackTrace.toList()
    val callers = trace.dropWhile { it.className.startsWith(OURS) }.ifEmpty { trace }
    val users = callers.filterNot(::isMachinery).ifEmpty { callers }
    return ", taken at" + users.take(FRAMES).joinToString("") { "\n      $it" }
}
