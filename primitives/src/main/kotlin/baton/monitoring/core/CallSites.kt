@file:JvmSynthetic

package baton.monitoring.core

private const val OURS = "baton."
private const val FRAMES = 4

/** The machinery of coroutines, which is below each of them. */
private val MACHINERY = listOf("kotlin.coroutines.", "kotlinx.coroutines.")

/** That a lock was taken at [site], by the first frames outside of the libraries, if there are any. */
internal fun whereTaken(site: Throwable?): String {
    if (site == null) return ""
    val trace = site.stackTrace.toList()
    val callers = trace.dropWhile { it.className.startsWith(OURS) }.ifEmpty { trace }
    val users = callers.filterNot { frame -> MACHINERY.any { frame.className.startsWith(it) } }.ifEmpty { callers }
    return ", taken at" + users.take(FRAMES).joinToString("") { "\n      $it" }
}
