@file:JvmName("PoolBridge")

package baton.bridge

import baton.InternalBatonApi
import baton.sync.Semaphore

// A semaphore as the local queue of permits that come from elsewhere, and go back there. Those that are elsewhere count
// as
// held. So it is made with all of them held, a release brings some, and a withdrawal takes those that are free.

/** Calls [listener], on the thread of the caller, after each request that has come into the queue or left it. */
@InternalBatonApi
public fun onDemand(pool: Semaphore, listener: Runnable) {
    pool.core.onDemand = listener
}

/** How many permits the first waiter asks for; 0 if no caller waits. It asks for more than are free. */
@InternalBatonApi public fun demandOf(pool: Semaphore): Int = pool.core.demand

/** Takes up to [most] of the free permits, also while a caller waits that they are too few for. Returns how many. */
@InternalBatonApi public fun withdrawFrom(pool: Semaphore, most: Int = Int.MAX_VALUE): Int = pool.core.withdraw(most)

/** As [Semaphore.resize], but no permit becomes free by it. */
@InternalBatonApi
public fun resizePool(pool: Semaphore, permits: Int) {
    pool.core.resizeHeld(permits)
}

/** As [Semaphore.release], but permits that the pool has already change nothing. */
@InternalBatonApi
public fun bringTo(pool: Semaphore, permits: Int) {
    pool.core.release(permits)
}
