package baton.waiting.boost

import baton.Boosting
import baton.InternalBatonApi
import baton.priority
import baton.waiting.BoostableCoroutine
import baton.waiting.Waiter
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext

/** Whether there is a dispatcher that boosts coroutines. Until there is one, locks pay one read of a field for it. */
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
    }

    /** The dispatcher that can boost the coroutine of [context], or null. */
    internal fun boostingOf(context: CoroutineContext): Boosting? {
        val interceptor = context[ContinuationInterceptor] ?: return null
        val type = interceptor.javaClass
        if (type === other) return null
        if (interceptor is Boosting) return interceptor
        other = type
        return null
    }
}

/** This coroutine if it can be boosted while it holds a lock, else null. */
internal suspend inline fun boostableCoroutine(): BoostableCoroutine? =
    if (Boosts.inUse) coroutineContext.ifBoostable() else null

internal fun CoroutineContext.ifBoostable(): BoostableCoroutine? =
    if (Boosts.boostingOf(this) == null) null else BoostableCoroutine(this)

/** Reads the urgency of its coroutine. Called before it is enqueued: this is foreign code, and not for the lock. */
internal fun Waiter.readUrgency() {
    if (Boosts.inUse) readUrgencyOf(coroutine ?: return)
}

private fun Waiter.readUrgencyOf(context: CoroutineContext) {
    val boosting = Boosts.boostingOf(context)
    val level = if (boosting == null) context.priority else boosting.levelOf(context)
    isBoostable = boosting != null
    urgency = level?.ordinal?.toByte() ?: Waiter.NO_URGENCY
}

/** Instead of [readUrgency], where no holder would be boosted for it. */
internal fun Waiter.skipUrgency() {
    isBoostable = false
    urgency = Waiter.NO_URGENCY
}
