package baton.waiting

import kotlin.coroutines.CoroutineContext

/** The coroutine of a holder that can be boosted. Cores pass it on. */
@JvmInline internal value class BoostableCoroutine(val context: CoroutineContext)

/** The boosts of a core's holders, as the core sees them. */
internal abstract class HolderBoosts : Wakeup() {
    abstract val hasHolder: Boolean

    abstract val hasSole: Boolean

    /** Called at the end of a decision: whether the deciding thread has work to do, which is to wake this first. */
    abstract fun isDue(): Boolean
}
