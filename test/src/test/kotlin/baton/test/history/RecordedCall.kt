package baton.test.history

/**
 * A call of a history: its input, its output, and the moments in which it began and ended, by one clock of all clients.
 *
 * @property output null if the outcome is unknown: the call may take effect at any time after its begin, or never.
 */
class RecordedCall<I, O : Any>(val input: I, val begin: Long, val output: O?, end: Long) {
    val end: Long = if (output == null) Long.MAX_VALUE else end

    override fun toString(): String = "$begin..${if (output == null) "?" else "$end"}: $input -> ${output ?: "unknown"}"
}
