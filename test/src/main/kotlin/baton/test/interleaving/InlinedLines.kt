@file:JvmSynthetic

package baton.test.interleaving

/**
 * The line of the call where [element] is in the body of an inline function, such as `withLock`. The compiler gives
 * such a body line numbers beyond the end of the file, and writes what they stand for into the class file (JSR 45,
 * stratum KotlinDebug). Returns [element] where nothing is found.
 */
internal fun callOfInlined(element: StackTraceElement, loader: ClassLoader?): StackTraceElement {
    val line = debugExtension(element.className, loader)?.let { numberOfCall(it, element.lineNumber) } ?: return element
    return StackTraceElement(element.className, element.methodName, element.fileName, line)
}

/** The attribute of the class file, which is text; null if there is none. */
private fun debugExtension(className: String, loader: ClassLoader?): String? =
    try {
        val resource = className.replace('.', '/') + ".class"
        val stream =
            if (loader == null) ClassLoader.getSystemResourceAsStream(resource)
            else loader.getResourceAsStream(resource)
        val bytes = stream?.use { it.readAllBytes() } ?: ByteArray(0)
        val text = String(bytes, Charsets.ISO_8859_1)
        val from = text.indexOf(STRATUM)
        if (from < 0) null else text.substring(from, text.indexOf(END, from).takeIf { it >= 0 } ?: text.length)
    } catch (_: Exception) {
        null
    }

/** Null if [line] is not in the body of an inline function. */
private fun numberOfCall(stratum: String, line: Int): Int? =
    LINES.findAll(stratum.substringAfter("\n*L\n", "")).firstNotNullOfOrNull { match ->
        val (call, _, repeats, first, increment) = match.destructured
        val from = first.toInt()
        val count = (repeats.toIntOrNull() ?: 1) * (increment.toIntOrNull() ?: 1)
        call.toInt().takeIf { line in from..<from + count }
    }

private const val STRATUM = "*S KotlinDebug\n"
private const val END = "\n*E"

/** Line of the call, file, how often it is repeated, first line of the body, how many lines each stands for. */
private val LINES = Regex("^(\\d+)(?:#(\\d+))?(?:,(\\d+))?:(\\d+)(?:,(\\d+))?$", RegexOption.MULTILINE)
