package baton.swap

import baton.channels.ChannelClosedException
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.ClosedReceiveChannelException
import kotlinx.coroutines.channels.ClosedSendChannelException
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.test.runTest

internal class Boom : Exception("boom")

internal class Gone : CancellationException("gone")

/** Uses of names, each with what it does, in a form in which two libraries can be compared. */
internal class SharedNames(declare: SharedNames.() -> Unit) {
    private val uses = LinkedHashMap<String, suspend CoroutineScope.() -> Any?>()

    init {
        declare()
    }

    operator fun String.invoke(use: suspend CoroutineScope.() -> Any?) {
        check(uses.put(this, use) == null) { "$this is declared twice" }
    }

    fun outcomes(): Map<String, String> {
        val outcomes = LinkedHashMap<String, String>()
        for ((name, use) in uses) {
            runTest {
                val outcome =
                    CoroutineScope(coroutineContext + SupervisorJob()).async { outcome { supervisorScope(use) } }
                testScheduler.advanceUntilIdle()
                outcomes[name] = if (outcome.isCompleted) outcome.await() else "waits"
                outcome.cancel()
            }
        }
        return outcomes
    }
}

/** The outcome of [use]: the value that it returns, or the exception that it throws, without messages. */
internal suspend fun outcome(use: suspend () -> Any?): String =
    try {
        plain(use())
    } catch (e: Throwable) {
        "throws ${plain(e)}"
    }

/** The values that [use] passes to its argument, and at last the one that it returns. */
internal suspend fun seen(use: suspend (see: (Any?) -> Unit) -> Unit): List<Any?> {
    val seen = mutableListOf<Any?>()
    use { seen += it }
    return seen
}

private fun plain(value: Any?): String =
    when (value) {
        is List<*> -> value.joinToString(prefix = "[", postfix = "]", transform = ::plain)
        is ClosedSendChannelException,
        is ClosedReceiveChannelException -> "closed"
        is ChannelClosedException -> closed(value)
        is Boom,
        is Gone -> value.javaClass.simpleName
        is CancellationException -> "CancellationException"
        is Throwable -> value.javaClass.simpleName
        else -> "$value".removePrefix("kotlin.")
    }

/** In debug mode kotlinx throws a copy, whose cause is the exception itself. */
private fun closed(thrown: ChannelClosedException): String {
    val original = generateSequence(thrown) { it.cause as? ChannelClosedException }.last()
    return original.cause?.let { "closed by ${plain(it)}" } ?: "closed"
}
