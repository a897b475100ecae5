package baton

import kotlin.coroutines.CoroutineContext

/**
 * The hook by which a lock lifts its holder when somebody more urgent waits: implemented by Baton's priority
 * dispatchers, and found as the interceptor in the holder's context. So locks know of no scheduler.
 *
 * It is not meant to be implemented elsewhere: locks ask for it only once there is a dispatcher of Baton's that does,
 * and until then pay one read of a field for it.
 *
 * All members may be called from any thread; they neither wait nor throw.
 */
public interface Boosting {
    /** The level at which the coroutine of [context] is dispatched now, boosts included. */
    public fun levelOf(context: CoroutineContext): Priority

    /**
     * Lifts the coroutine of [context] and all inside it to [level], if they are below it, until the boost is ended:
     * what of them is queued moves at once, and what is dispatched later follows.
     */
    public fun boost(context: CoroutineContext, level: Priority): Boost

    /** Something that was lifted. */
    public fun interface Boost {
        /** Lets it sink to its own level, from its next dispatch on. To end it again changes nothing. */
        public fun end()
    }
}
