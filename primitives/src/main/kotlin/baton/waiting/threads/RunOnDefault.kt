package baton.waiting.threads

import baton.InternalBatonApi
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers

/**
 * Runs [action] once, in place of a dispatcher that has refused it: on Dispatchers.Default, or here if that throws for
 * want of a thread. It has queued the action then, all the same.
 */
@InternalBatonApi
public fun runOnDefault(context: CoroutineContext = EmptyCoroutineContext, action: () -> Unit): Unit =
    runOn(Dispatchers.Default, context, action)

internal fun runOn(dispatcher: CoroutineDispatcher, context: CoroutineContext, action: () -> Unit) {
    val once = RunOnce(action)
    try {
        dispatcher.dispatch(context, once)
    } catch (_: Throwable) {
        once.run()
    }
}
