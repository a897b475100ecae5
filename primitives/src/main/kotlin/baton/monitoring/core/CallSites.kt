@file:JvmSynthetic

package baton.monitoring.core

import baton.waiting.holders.CallSite
import baton.waiting.holders.Holder

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

private fun isMachinery(frame: StackTraceElement) = MACHINERY.any { frame.className.startsWith(it) }

/** That a lock was taken at [site], by the first frames outside of the libraries, if there are any. */
internal fun whereTaken(site: Throwable?): String {
    if (site == null) return ""
    val trace = site.stackTrace.toList()
    val callers = trace.dropWhile { it.className.startsWith(OURS) }.ifEmpty { trace }
    val users = callers.filterNot(::isMachinery).ifEmpty { callers }
    return ", taken at" + users.take(FRAMES).joinToString("") { "\n      $it" }
}
