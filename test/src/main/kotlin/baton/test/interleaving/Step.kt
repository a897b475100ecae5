package baton.test.interleaving

import kotlin.coroutines.jvm.internal.CoroutineStackFrame

/**
 * What [coroutine] does until it suspends again.
 *
 * @param frame where it goes on, if that is known.
 * @property block does it.
 */
internal class Step(
    val coroutine: ExploredCoroutine,
    private val kind: Kind,
    private val frame: CoroutineStackFrame?,
    val block: Runnable,
) {
    enum class Kind {
        GOES_ON,
        TIMEOUT,
    }

    /** For the story. To be asked before it runs. */
    fun describe(): String {
        if (kind == Kind.TIMEOUT) return "times out"
        val line = frame?.let(::lineOf)
        return when {
            line != null -> "goes on at $line"
            coroutine.hasStarted -> "goes on"
            else -> "starts"
        }
    }
}
