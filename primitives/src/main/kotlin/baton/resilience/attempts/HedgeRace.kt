package baton.resilience.attempts

import baton.BatonClock
import baton.Refusal
import baton.resilience.Hedge
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.coroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch

/**
 * One call with a [Hedge]. Its attempts are children of the caller's coroutine:
 * ```
 *   attempt 1 ─ begun ─┬─ after ─ joins as attempt 2 ─┬─ after ─ joins as attempt 3 …
 *                      └─ runs                        └─ runs
 * ```
 * 1. [running] counts the attempts that may still succeed. Once it is 0 no attempt joins, so the race always ends.
 * 2. One [decision] ends it: the first success; a cancellation or an [Error] at once; otherwise, when no attempt runs
 *    any more, the end of attempt 1. The thread that decides cancels all children, those that have not joined included.
 * 3. The children throw nothing. So their scope ends when they all have, and fails only by the caller's cancellation.
 * 4. A further attempt that is refused has not taken place.
 */
internal class HedgeRace<T>(
    private val hedge: Hedge,
    private val clock: BatonClock?,
    private val isFailure: ((T) -> Boolean)?,
    private val attempt: suspend HedgeRace<T>.(isFirst: Boolean) -> T,
) {
    private val running = AtomicInteger(1)
    private val decision = AtomicReference<End>()
    private val laterFailures = ConcurrentLinkedQueue<Throwable>()
    private lateinit var scope: CoroutineScope

    /** Written by attempt 1 before it leaves [running]. */
    private var firstEnd: End? = null

    /** An attempt that has ended, with a [value] if there is no [failure]. */
    private class End(val value: Any?, val failure: Throwable?)

    suspend fun run(): T {
        var cancellation: CancellationException? = null
        try {
            coroutineScope {
                scope = this
                launch(start = CoroutineStart.UNDISPATCHED) { take(isFirst = true) }
            }
        } catch (e: CancellationException) {
            cancellation = e
        }
        val end = decision.get()
        // As everywhere, a value that is there is returned to a cancelled caller, too.
        if (end.failure != null) throw cancellation ?: end.failure
        @Suppress("UNCHECKED_CAST")
        return end.value as T
    }

    /** Attempt 1 has all that it waits for. */
    fun begun() {
        follow(number = 2)
    }

    private fun follow(number: Int) {
        scope.launch(start = CoroutineStart.UNDISPATCHED) {
            waitFor(clock, hedge.after)
            if (!join()) return@launch
            if (number < hedge.attempts) follow(number + 1)
            take(isFirst = false)
        }
        // The decision may have cancelled the children before this one was among them.
        if (decision.get() != null) cancelAll()
    }

    private fun join(): Boolean {
        while (true) {
            val count = running.get()
            if (count == 0 || decision.get() != null) return false
            if (running.compareAndSet(count, count + 1)) return true
        }
    }

    private suspend fun take(isFirst: Boolean) {
        val end =
            try {
                val value = attempt(isFirst)
                if (isFailure?.invoke(value) == true) return lose(End(value, null), isFirst)
                End(value, null)
            } catch (e: Throwable) {
                End(null, e)
            }
        val failure = end.failure
        val goesOn = failure != null && failure !is Error && !isCancellation(failure, coroutineContext.isActive)
        if (goesOn) lose(end, isFirst) else decide(end)
    }

    private fun lose(end: End, isFirst: Boolean) {
        if (isFirst) firstEnd = end
        else if (end.failure != null && end.failure !is Refusal) laterFailures += end.failure
        if (running.decrementAndGet() > 0) return
        val first = firstEnd ?: end
        if (first.failure != null) laterFailures.forEach { suppress(it, first.failure) }
        decide(first)
    }

    private fun decide(end: End) {
        if (decision.compareAndSet(null, end)) cancelAll()
    }

    private fun cancelAll() {
        scope.coroutineContext.cancelChildren(null)
    }
}
