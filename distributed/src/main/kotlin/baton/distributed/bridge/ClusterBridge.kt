@file:JvmName("ClusterBridge")

package baton.distributed.bridge

import baton.BatonClock
import baton.InternalBatonApi
import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.Lease
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.time.Duration

// The internal API by which tests run a cluster in a time of theirs.

/** As [Cluster.open]. All that is random comes from [random]. */
@InternalBatonApi
public fun openCluster(
    store: CoordinationStore,
    lease: Duration,
    name: String,
    namespace: String,
    clock: BatonClock,
    context: CoroutineContext,
    random: Random,
    observer: ClusterObserver?,
): Cluster = Cluster.open(store, lease, name, namespace, clock, context, random, observer)

/**
 * How long [lease] is good by the clock of its member, if no other heartbeat is confirmed; below zero if it is over.
 */
@InternalBatonApi public fun timeLeftOf(lease: Lease): Duration = lease.timeLeft()

/** The locks of [cluster], with their permits and callers. */
@InternalBatonApi public fun locksOf(cluster: Cluster): List<String> = cluster.locks()
