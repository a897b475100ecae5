package baton.waiting.boost

import baton.Boosting
import baton.waiting.InternalBatonApi
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext

/** Whether there is a dispatcher that lifts coroutines. Until there is one, locks pay a read of a field for it. */
@InternalBatonApi
public object Boosts {
    @Volatile
    @JvmField
    internal var inUse: Boolean = false

    /**
     * The class of the interceptor that was last seen and is none: to find that a class does not implement an interface
     * takes five times as long as to lock what is free. Only a hint, so any thread may write it.
     */
    private var other: Class<*>? = null

    /** Before the first dispatcher that is a [Boosting] has anything to run. For good. */
    public fun begin() {
        inUse = true
    }

    /** What can lift the coroutine of [context], or null. */
    internal fun boostingOf(context: CoroutineContext): Boosting? {
        val interceptor = context[ContinuationInterceptor] ?: return null
        val type = interceptor.javaClass
        if (type === other) return null
        if (interceptor is Boosting) return interceptor
        other = type
        return null
    }
}

/** The context of this coroutine if it can be lifted while it holds a lock, else null. */
internal suspend inline fun liftable(): CoroutineContext? = if (Boosts.inUse) coroutineContext.ifLiftable() else null

internal fun CoroutineContext.ifLiftable(): CoroutineContext? = if (Boosts.boostingOf(this) == null) null else this
