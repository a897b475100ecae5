package baton.waiting

import baton.Boosting
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext

/** Whether there is a dispatcher that lifts coroutines. Until there is one, locks pay a read of a field for it. */
@InternalBatonApi
public object Boosts {
    @Volatile
    @JvmField
    internal var inUse: Boolean = false

    /** Before the first dispatcher that is a [Boosting] has anything to run. For good. */
    public fun begin() {
        inUse = true
    }
}

/** The context of this coroutine if it can be lifted while it holds a lock, else null. */
internal suspend inline fun liftable(): CoroutineContext? = if (Boosts.inUse) coroutineContext.ifLiftable() else null

internal fun CoroutineContext.ifLiftable(): CoroutineContext? = takeIf { it[ContinuationInterceptor] is Boosting }
