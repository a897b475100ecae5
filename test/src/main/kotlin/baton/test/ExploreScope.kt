package baton.test

import kotlinx.coroutines.CoroutineScope

/**
 * The scope of a body that [explore] runs. A coroutine launched here is a child of the body: the run ends when all of
 * them have ended.
 *
 * To be used from the coroutines of the body alone, which share one thread.
 */
public interface ExploreScope : CoroutineScope {
    /**
     * Runs [check] once the body and all that it launched have ended, unless one of these has failed. Several checks
     * run in the order in which they were given. An exception of a check fails the run.
     */
    public fun afterwards(check: () -> Unit)
}
