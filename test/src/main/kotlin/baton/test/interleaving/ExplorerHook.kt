package baton.test.interleaving

import baton.waiting.Waiter
import baton.waiting.coroutine.CallHook
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/** Primitives find it by its name. */
internal class ExplorerHook : CallHook {
    override fun isExploring(): Boolean = Explorer.isOnThisThread()

    override fun pausesBefore(waiter: Waiter, context: CoroutineContext): Boolean {
        val explorer = context[ContinuationInterceptor] as? Explorer
        return explorer != null && explorer.pausesBefore(waiter, context)
    }
}
