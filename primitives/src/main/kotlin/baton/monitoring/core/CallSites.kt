@file:JvmSynthetic

package baton.monitoring.core

private const val OURS = "baton."
private const val FRAMES = 4

/** That a lock was taken at [site], by the first frames outside of this library, if there are any. */
internal fun whereTaken(site: Throwable?): String {
    if (site == null) return ""
    val trace = site.stackTrace.toList()
    val callers = trace.dropWhile { it.className.startsWith(OURS) }.ifEmpty { trace }
    return ", taken at" + callers.take(FRAMES).joinToString("") { "\n      $it" }
}
