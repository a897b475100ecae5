package baton.batch.core

import java.util.Properties
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** Reads a configuration. The keys are the paths that the messages of its checks begin with. */
internal class ConfigProperties(private val properties: Properties, private val prefix: String) {
    private val known = LinkedHashSet<String>()

    /** Returns what [build] makes of the values. Refuses what is no string, and unknown keys. */
    fun <C> read(build: ConfigProperties.() -> C): C {
        for ((key, value) in properties) {
            require(value is String || key !is String || !key.startsWith(prefix)) { "$key = $value, must be a string" }
        }
        val config =
            try {
                build()
            } catch (e: IllegalArgumentException) {
                throw IllegalArgumentException(prefix + e.message, e)
            }
        properties.stringPropertyNames().filter { it.startsWith(prefix) }.sorted().forEach(::checkKnown)
        return config
    }

    fun int(path: String, default: Int): Int {
        val number = value(path, default.toLong(), "a whole number", String::toLongOrNull)
        require(number in Int.MIN_VALUE..Int.MAX_VALUE) {
            "$path = $number, must be within ${Int.MIN_VALUE}..${Int.MAX_VALUE}"
        }
        return number.toInt()
    }

    fun millis(path: String, least: Long, default: Duration): Duration {
        val number = value(path, default.inWholeMilliseconds, "a whole number", String::toLongOrNull)
        require(number >= least) { "$path = $number, must be at least $least" }
        return number.milliseconds
    }

    fun <V : Any> value(path: String, default: V, kind: String, parse: (String) -> V?): V {
        known += path
        val text = properties.getProperty(prefix + path)?.trim() ?: return default
        return requireNotNull(parse(text)) { "$path = '$text', must be $kind" }
    }

    private fun checkKnown(key: String) {
        val path = key.removePrefix(prefix)
        if (path in known || key in OTHERS) return
        val nearest = known.minBy { distance(path.lowercase(), it.lowercase()) }
        throw IllegalArgumentException("unknown key '$key'; the nearest known one is '$prefix$nearest'")
    }

    /** How many letters to add, remove or change (Levenshtein, 1965). */
    private fun distance(from: String, to: String): Int {
        var row = IntArray(to.length + 1) { it }
        for (i in from.indices) {
            val next = IntArray(to.length + 1)
            next[0] = i + 1
            for (j in to.indices) {
                val change = if (from[i] == to[j]) 0 else 1
                next[j + 1] = minOf(next[j] + 1, row[j + 1] + 1, row[j] + change)
            }
            row = next
        }
        return row.last()
    }

    private companion object {
        /** System properties that Baton reads elsewhere. */
        val OTHERS = setOf("baton.deadlocks", "baton.futures.traces")
    }
}
