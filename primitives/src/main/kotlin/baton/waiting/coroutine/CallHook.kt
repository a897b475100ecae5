package baton.waiting.coroutine

import baton.InternalBatonApi
import baton.waiting.Waiter
import kotlin.coroutines.Continuation
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.time.Duration

/**
 * The part of baton-test that sees the calls of primitives which may suspend, before they begin. There is one where
 * that artifact is on the class path.
 */
@InternalBatonApi
public interface CallHook {
    /** Whether the calling thread runs coroutines in orders that are explored. */
    public fun isExploring(): Boolean

    /**
     * Whether the coroutine with this [context] pauses before the call for which it made [waiter]. If so, its
     * continuation is dispatched next, and the dispatcher is the one of the exploration.
     */
    public fun pausesBefore(waiter: Waiter, context: CoroutineContext): Boolean
}

/** Null in production: then the compiler drops what follows. */
private val HOOK: CallHook? = findHook()

private const val IMPLEMENTATION = "baton.test.interleaving.ExplorerHook"

private fun findHook(): CallHook? =
    try {
        Class.forName(IMPLEMENTATION).getConstructor().newInstance() as CallHook
    } catch (_: Throwable) {
        null // Not there, or of another version. A failure here, also for want of stack, would break each later call.
    }

/**
 * Whether the calling thread explores. Then a call of a primitive takes no fast path: it makes its waiter, [explored]
 * lets other coroutines go first, and the core grants at once what it can.
 */
internal fun isExplored(): Boolean = HOOK != null && HOOK.isExploring()

/** As the other, of a call that waits [timeout] at most. One that does not wait at all is not explored. */
internal fun isExplored(timeout: Duration): Boolean = isExplored() && timeout > Duration.ZERO

/** Runs [call], which enqueues [waiter], now or when the exploration lets [caller] go on. */
internal fun explored(waiter: Waiter, caller: Continuation<*>, call: () -> Any?): Any? {
    val context = caller.context
    if (HOOK == null || !HOOK.pausesBefore(waiter, context)) return call()
    @Suppress("UNCHECKED_CAST") // The call makes the results fit the caller.
    val pause = Pause(caller as Continuation<Any?>, call)
    (context[ContinuationInterceptor]?.interceptContinuation(pause) ?: pause).resumeWith(RESUMED)
    return COROUTINE_SUSPENDED
}

private class Pause(private val caller: Continuation<Any?>, private val call: () -> Any?) :
    Continuation<Unit>, CoroutineStackFrame {
    override val context: CoroutineContext
        get() = caller.context

    override val callerFrame: CoroutineStackFrame?
        get() = caller as? CoroutineStackFrame

    override fun getStackTraceElement(): StackTraceElement? = null

    override fun resumeWith(result: Result<Unit>) {
        val outcome = runCatching(call)
        if (outcome.getOrNull() !== COROUTINE_SUSPENDED) caller.resumeWith(outcome)
    }
}
