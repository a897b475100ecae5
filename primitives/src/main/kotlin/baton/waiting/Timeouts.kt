package baton.waiting

import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.Delay
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * Timers, in one place because they need kotlinx.coroutines' internal [Delay]: the dispatcher's own clock when it has
 * one (so that a test's virtual time counts), else the clock that `delay` uses. Grain: one millisecond, rounded up.
 * Tested against kotlinx-coroutines 1.9.0, 1.10.2 and 1.11.0.
 */
@InternalBatonApi
@OptIn(InternalCoroutinesApi::class)
public object Timeouts {
    /** Runs [action] once [timeout] has passed. Null for a timeout that never ends. */
    @JvmStatic
    public fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        if (timeout.isInfinite()) return null
        val clock = context[ContinuationInterceptor] as? Delay
        return if (clock != null) {
            clock.invokeOnTimeout(wholeMillis(timeout), action, context)
        } else {
            schedule(wholeMillis(timeout), action)
        }
    }

    /** Runs [action] on [Dispatchers.Default] once [millis] have passed on the clock that `delay` uses. */
    @JvmStatic
    public fun schedule(millis: Long, action: Runnable): DisposableHandle {
        // One thread serves all timers of the process: what a timeout sets going must not hold it up.
        val elsewhere = Runnable { Dispatchers.Default.dispatch(EmptyCoroutineContext, action) }
        return sharedClock.invokeOnTimeout(millis, elsewhere, EmptyCoroutineContext)
    }

    private fun wholeMillis(timeout: Duration): Long {
        val millis = timeout.inWholeMilliseconds
        return if (millis < Long.MAX_VALUE && millis.milliseconds < timeout) millis + 1 else millis
    }

    /**
     * The clock behind `delay`, which a limited view of a dispatcher without one has. A [Delay] of our own could not
     * inherit it: before kotlinx-coroutines 1.11 the method that sets a timer is abstract in the interface.
     */
    private val sharedClock = Dispatchers.IO.limitedParallelism(1, null) as Delay
}
