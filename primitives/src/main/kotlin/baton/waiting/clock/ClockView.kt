package baton.waiting.clock

import baton.BatonClock
import baton.InternalBatonApi
import baton.waiting.threads.RunOnce
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Runnable

/** A context for coroutines of ours, whose delays and timeouts are to follow [given]; empty for null. */
@InternalBatonApi
public fun CoroutineContext.onClock(given: BatonClock?): CoroutineContext =
    if (given == null || !given.hasTimers()) EmptyCoroutineContext
    else ClockView(this[ContinuationInterceptor] as? CoroutineDispatcher ?: Dispatchers.Default, given)

internal fun BatonClock?.hasTimers(): Boolean = this != null && (this !is RealClock || hasTimers)

/**
 * Runs on [underlying], and waits for [clock], or for the system's if that refuses the timer.
 *
 * `Delay` is an internal API of kotlinx.coroutines. Tested against 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
private class ClockView(private val underlying: CoroutineDispatcher, override val clock: BatonClock) :
    CoroutineDispatcher(), Delay, ClockedDispatcher {
    private val isFailureReported = AtomicBoolean()

    override fun isDispatchNeeded(context: CoroutineContext) = underlying.isDispatchNeeded(context)

    override fun dispatch(context: CoroutineContext, block: Runnable) = underlying.dispatch(context, block)

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        val timer = invokeOnTimeout(timeMillis, { continuation.resume(Unit) }, continuation.context)
        continuation.invokeOnCancellation { timer.dispose() }
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle {
        // A clock may have set the timer although it has thrown.
        val once = RunOnce(block)
        return try {
            clock.timer(Duration.ofMillis(timeMillis), once)
        } catch (e: Throwable) {
            report(e)
            Timeouts.scheduleAnyhow(timeMillis, once)
        }
    }

    private fun report(e: Throwable) {
        if (isFailureReported.getAndSet(true)) return
        Trampoline.report(IllegalStateException("A wait is by the system's clock, because $clock has failed", e))
    }

    /** kotlinx.coroutines has a body for it, but not as a default method before 1.11. */
    @Deprecated("As in kotlinx.coroutines, which does not call it", level = DeprecationLevel.ERROR)
    override suspend fun delay(time: Long): Unit = throw UnsupportedOperationException()

    override fun toString(): String = "$underlying with $clock"
}
