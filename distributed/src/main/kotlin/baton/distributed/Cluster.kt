package baton.distributed

import baton.BatonClock
import baton.distributed.bridge.ClusterObserver
import baton.distributed.locks.LimitClient
import baton.distributed.locks.LockClient
import baton.distributed.members.ClusterCore
import baton.distributed.members.ClusterLock
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.resilience.Rate
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.random.Random
import kotlin.random.asKotlinRandom
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/**
 * One of the members that share locks through a store: usually a JVM.
 *
 * ```
 * val cluster = Cluster.open(JdbcStore(dataSource), lease = 10.seconds, namespace = "shop")
 * val atMostFive = cluster.semaphore("uplink", permits = 5)
 * ```
 *
 * It joins at the first use of a lock, and then writes to the store every third of a [lease], whatever it holds. A
 * member that does not, for seven eighths of a lease, has lost all that it held. Others get it a lease and a third
 * after the last of these writes at the latest.
 *
 * All members may be called from any thread. Two clusters of one JVM are two members.
 */
public class Cluster internal constructor(private val core: ClusterCore) : Monitored, AutoCloseable {
    /** How long a member is silent before others may take what it holds. */
    public val lease: Duration
        get() = core.lease

    /** Shown by messages and in the store; null if it has none. */
    override val name: String?
        get() = core.name

    /**
     * The semaphore of that name; the numbers of the first call count. If members name different numbers of permits,
     * the last one to use it wins, with a warning to the thread's handler of uncaught exceptions.
     *
     * @param keep whether a permit stays with this JVM after its release, for a while, until another member wants it:
     *   then the next acquire here costs no trip to the store.
     * @throws IllegalArgumentException if [permits] is below 1.
     */
    @JvmOverloads
    public fun semaphore(name: String, permits: Int, keep: Boolean = true): DistributedSemaphore {
        DistributedSemaphore.requirePermits(permits)
        return DistributedSemaphore(lock("semaphore", name, permits, keep))
    }

    /** The mutex of that name. For [keep] see [semaphore]. */
    @JvmOverloads
    public fun mutex(name: String, keep: Boolean = true): DistributedMutex =
        DistributedMutex(lock("mutex", name, 1, keep))

    /**
     * The rate limiter of that name: a token bucket that begins full. The numbers of the first call count. If members
     * name different ones, the last one to use it wins, with a warning to the thread's handler of uncaught exceptions.
     *
     * @param burst the most permits that can be had at once.
     * @throws IllegalArgumentException if [burst] is below 1 or above 2147483647.
     */
    @JvmOverloads
    public fun rateLimiter(name: String, rate: Rate, burst: Long = rate.permits): DistributedRateLimiter {
        val limit = DistributedRateLimiter.limitOf(rate, burst)
        return DistributedRateLimiter(client(LimitClient.KIND, name) { LimitClient(core, name, limit) } as LimitClient)
    }

    /** Chooses one of the members that ask for this name. */
    public fun leader(name: String): DistributedLeader = DistributedLeader(lock("leader", name, 1, keep = false))

    /**
     * The milliseconds since the last heartbeat that the store has confirmed, of the [lease]: at seven eighths all
     * leases are lost. 0 before the first use, and while this is no member.
     */
    override fun usage(): Usage = core.usage()

    private fun lock(kind: String, name: String, permits: Int, keep: Boolean): LockClient =
        client(kind, name) { LockClient(core, kind, name, permits, keep) } as LockClient

    private fun client(kind: String, name: String, create: () -> ClusterLock): ClusterLock {
        val key = core.keyOf(kind, name)
        val most = LONGEST_KEY - key.length + name.length
        require(name.length <= most) { "name has ${name.length} characters, must have at most $most" }
        return core.lock(key, create)
    }

    /**
     * Ends the cluster: callers that wait fail, and so do all later ones. Waits until what is held has been released
     * and given back. Then closes nothing else: the store belongs to the caller.
     */
    public suspend fun shutdown() {
        core.shutdown()
    }

    /** Ends the cluster at once. Leases that are held are lost; other members get the permits after a lease. */
    override fun close() {
        core.close()
    }

    @JvmSynthetic internal fun locks(): List<String> = core.lockTexts()

    override fun toString(): String = core.toString()

    public companion object {
        /**
         * A member that has not joined yet: this does no I/O.
         *
         * @param store stays open when the cluster is closed.
         * @param lease at least 100 ms. Short leases are lost by short pauses; long ones keep a dead member's permits.
         * @param name of this member, for messages and in the store.
         * @param namespace of the application: the keys in the store begin with it.
         * @param clock by default that of the system, and in [context] with the dispatcher of a test its virtual time.
         * @param context its dispatcher runs the decisions of the cluster, one at a time. By default a thread of the
         *   cluster does, so that a full dispatcher loses no lease.
         * @throws IllegalArgumentException if [lease] is too short, or [namespace] is empty.
         */
        @JvmSynthetic
        public fun open(
            store: CoordinationStore,
            lease: Duration = 10.seconds,
            name: String? = null,
            namespace: String = "baton",
            clock: BatonClock? = null,
            context: CoroutineContext = EmptyCoroutineContext,
        ): Cluster = open(store, lease, name, namespace, clock, context, java.security.SecureRandom().asKotlinRandom())

        @JvmSynthetic
        internal fun open(
            store: CoordinationStore,
            lease: Duration,
            name: String?,
            namespace: String,
            clock: BatonClock?,
            context: CoroutineContext,
            random: Random,
            observer: ClusterObserver? = null,
        ): Cluster {
            require(lease >= SHORTEST && lease.isFinite()) { "lease = $lease, must be at least $SHORTEST, and finite" }
            require(namespace.isNotEmpty()) { "namespace = '$namespace', must not be empty" }
            return Cluster(ClusterCore(store, lease, name, namespace, clock, context, random, observer))
        }

        private val SHORTEST = 100.milliseconds
        private const val LONGEST_KEY = 512
    }
}
