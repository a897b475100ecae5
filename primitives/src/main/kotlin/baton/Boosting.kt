package baton

import kotlin.coroutines.CoroutineContext

/**
 * The hook by which a lock boosts the priority of its holder while a more urgent caller waits. Baton's priority
 * dispatchers implement it; a lock finds it as the interceptor in the holder's context. So locks do not depend on the
 * scheduler.
 *
 * It is not meant to be implemented elsewhere: locks look for it only once a priority dispatcher of Baton exists. Until
 * then it costs them one read of a field.
 *
 * All members may be called from any thread; they neither wait nor throw.
 */
@InternalBatonApi
public interface Boosting {
    /** The level at which the coroutine of [context] is dispatched now, boosts included. */
    public fun levelOf(context: CoroutineContext): Priority

    /**
     * Boosts the coroutine of [context] and its children to [level], if they are below it, until the boost is ended.
     * Their queued blocks move at once; blocks that are dispatched later run at that level too.
     */
    public fun boost(context: CoroutineContext, level: Priority): Boost

    /** A boost that is in effect. */
    @InternalBatonApi
    public fun interface Boost {
        /**
         * Ends the boost: the coroutine returns to its base level at its next dispatch. A second call changes nothing.
         */
        public fun end()
    }
}
