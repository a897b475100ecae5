package baton.test.interleaving

import kotlin.coroutines.jvm.internal.CoroutineStackFrame

/**
 * The work of [coroutine] until it suspends again.
 *
 * @param frame where it goes on, if that is known.
 * @property block does it.
 */
internal class Step(
    val coroutine: ExploredCoroutine,
    private val kind: Kind,
    val frame: CoroutineStackFrame?,
    val block: Runnable,
) {
    enum class Kind {
        GOES_ON,

        /** It goes on with a call of a primitive. */
        CALLS,
        TIMEOUT,
    }

    /** For the story. To be asked before it runs. */
    fun describe(): String {
        if (kind == Kind.TIMEOUT) return if (coroutine.job == null) "fires" else "times out"
        val line = frame?.let(::lineOf)
        val call = coroutine.call
        return when {
            kind == Kind.CALLS && call != null -> "calls ${call.core.callOf(call)}" + (line?.let { " at $it" } ?: "")
            line != null -> "goes on at $line"
            coroutine.hasStarted -> "goes on"
            else -> "starts"
        }
    }
}
