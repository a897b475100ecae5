package baton.distributed.bridge

import baton.InternalBatonApi
import baton.distributed.Lease

/** Sees what the callers of one cluster are granted. Its functions return at once, and are called without a lock. */
@InternalBatonApi
public interface ClusterObserver {
    /** A caller is given [lease], of [permits] of the lock with the key [lock]. */
    public fun granted(lease: Lease, lock: String, permits: Int)

    public fun released(lease: Lease)

    public fun lost(lease: Lease, why: String)

    /** A disagreement of members, which is no failure. */
    public fun warned(warning: Throwable)
}
