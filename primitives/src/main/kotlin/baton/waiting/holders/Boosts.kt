package baton.waiting.holders

import baton.Boosting
import baton.InternalBatonApi
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext

/** Whether there is a dispatcher that boosts coroutines. */
@InternalBatonApi
public object Boosts {
    @Volatile @JvmField internal var inUse: Boolean = false

    /**
     * The class of the last interceptor that was not a [Boosting]: the check that a class does not implement an
     * interface takes five times as long as an uncontended lock. Only a hint, so any thread may write it.
     */
    private var other: Class<*>? = null

    /** Called before the first dispatcher that is a [Boosting] has a block to run. For good. */
    public fun begin() {
        inUse = true
        KnownCallers.begin()
    }

    /** The dispatcher that can boost the coroutine of [context], or null. */
    internal fun boostingOf(context: CoroutineContext?): Boosting? {
        val interceptor = (if (inUse) context?.get(ContinuationInterceptor) else null) ?: return null
        val type = interceptor.javaClass
        if (type === other) return null
        if (interceptor is Boosting) return interceptor
        other = type
        return null
    }
}
