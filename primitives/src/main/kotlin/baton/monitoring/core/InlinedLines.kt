@file:JvmSynthetic

package baton.monitoring.core

import baton.InternalBatonApi

/**
 * The frame with the line of the call where [element] is in the body of an inline function, such as `withLock`. The
 * compiler gives such a body line numbers beyond the end of the file, and writes what they stand for into the class
 * file (JSR 45, stratum KotlinDebug). Returns [element] where nothing is found. Reads the class file.
 */
@InternalBatonApi
public fun callOfInlined(element: StackTraceElement): StackTraceElement {
    if (element.fileName?.endsWith(".kt") != true) return element
    val line = lineOfCall(textOfClass(element.className), element.lineNumber) ?: return element
    return StackTraceElement(element.className, element.methodName, element.fileName, line)
}

/** The class file; empty if there is none. The loader of the class is unknown: it is one of these as a rule. */
private fun textOfClass(name: String): String {
    val resource = name.replace('.', '/') + ".class"
    for (loader in listOfNotNull(NamedObjects::class.java.classLoader, Thread.currentThread().contextClassLoader)) {
        try {
            loader.getResourceAsStream(resource)?.use {
                return String(it.readAllBytes(), Charsets.ISO_8859_1)
            }
        } catch (_: Exception) {
            // A loader that is closed, say. The next one may have it.
        }
    }
    return ""
}

/** Null if [line] is not in the body of an inline function. The map of the lines is part of [text]. */
internal fun lineOfCall(text: String, line: Int): Int? {
    val stratum = text.substringAfterLast("*S KotlinDebug\n", "").substringBefore("\n*E").substringAfter("\n*L\n", "")
    return RANGE.findAll(stratum).firstNotNullOfOrNull { match ->
        val (call, repeats, first, increment) = match.destructured
        val step = increment.toIntOrNull() ?: 1
        val offset = line - first.toInt()
        (call.toInt() + offset / step).takeIf { offset in 0..<(repeats.toIntOrNull() ?: 1) * step }
    }
}

/** First line of the calls, file, how many lines these are, first line of the body, how many lines each stands for. */
private val RANGE = Regex("^(\\d+)(?:#\\d+)?(?:,(\\d+))?:(\\d+)(?:,(\\d+))?$", RegexOption.MULTILINE)
