package baton.distributed.locks

import baton.bridge.PermitPool
import baton.distributed.Lease
import baton.distributed.LockHolder
import baton.distributed.members.ClusterCore
import baton.distributed.members.Member
import baton.distributed.rules.LockRules
import baton.distributed.rules.LockState
import baton.monitoring.Usage
import java.util.concurrent.CopyOnWriteArrayList

/** The part of a cluster that deals with one lock, see [Holdings]. */
internal class LockClient(cluster: ClusterCore, kind: String, name: String, permits: Int, keep: Boolean) :
    DocumentClient<LockState>(cluster, kind, name) {
    override val pool = PermitPool(permits, title, this) { signal() }

    private val holdings = Holdings(this, cluster, pool, keep)

    /**
     * The number of permits that the document is to say; null once it has. Confined to the dispatcher of the cluster.
     */
    private var declared: Int? = permits

    private val endings = CopyOnWriteArrayList<() -> Unit>()

    // ---- callers

    /** A lease of the permits that the caller has got from the pool; null if it has to wait again. */
    fun lease(permits: Int): Lease? = holdings.lease(permits)?.also { cluster.observer?.granted(it, key, permits) }

    fun release(lease: Lease) {
        cluster.observer?.released(lease)
        holdings.release(lease)
    }

    /** The [lease] has ended, [why]. */
    fun lost(lease: Lease, why: String) {
        cluster.observer?.lost(lease, why)
    }

    /** Whether the leases of [member] may be over. */
    fun isOver(member: Member): Boolean = cluster.isOver(member) || cluster.isDoubtful(member)

    val inUse: Int
        get() = holdings.inUse

    /** Whether a lease is held, by the clocks of this JVM. */
    val leads: Boolean
        get() = holdings.holdsNow

    override fun usage(): Usage = pool.usage(inUse)

    override fun toString() = "$label (permits = ${pool.permits}, in use here = $inUse, waiting here = ${pool.waiting})"

    /** The members that have permits, as this one has seen last. */
    fun holders(): List<LockHolder> =
        state?.shares().orEmpty().map { LockHolder(it.name().ifEmpty { it.member() }, it.permits(), it.since()) }

    /** For messages. */
    fun heldBy(): String = holders().let { if (it.isEmpty()) "" else ", held by ${it.joinToString()}" }

    /** Runs [action] when the cluster is shut down or closed, unless the result is closed before. */
    fun onEnd(action: () -> Unit): AutoCloseable {
        endings += action
        if (isClosed) action()
        return AutoCloseable { endings -= action }
    }

    override fun shutDown() {
        super.shutDown()
        for (ending in endings) ending()
    }

    /** The number of permits for all members, from the next write on. */
    fun resize(permits: Int) {
        cluster.launch {
            declared = permits
            signal()
        }
    }

    override fun tick() {
        if (holdings.tick() || state?.queue()?.isNotEmpty() == true) rung() else beatUnused()
    }

    // ---- the document

    override val hasAny: Boolean
        get() = holdings.hasAny

    override val isChanging: Boolean
        get() = declared != null && !isOpening

    /** The document says what was declared. */
    override fun rested(seen: LockState, member: Member) {
        declared = null
    }

    override fun parse(text: String): LockState = LockState.parse(text)

    override suspend fun create(isNew: Boolean, fence: Long): LockState =
        LockState.create(pool.permits, maxOf(cluster.calls.call { now() } * NANOS_PER_MICRO, fence))

    override fun forget(): List<Lease> = holdings.forget()

    override fun forgetOf(member: Member): List<Lease>? = holdings.forgetOf(member)

    override fun forgetOthers(member: Member): List<Lease> = holdings.forgetOthers(member)

    override fun giveBack() {
        holdings.isGivingBack = true
    }

    /** A write, and what it returns. */
    private class Planned(state: LockState, rung: Set<String>, val plan: Holdings.Plan) : Write<LockState>(state, rung)

    override suspend fun nextWrite(seen: LockState, member: Member): Write<LockState>? {
        val plan = holdings.plan(seen, member)
        val evicted = seen.others(member.id).keys.filterTo(HashSet()) { cluster.isDead(it) }
        val resized = declared?.takeIf { it != seen.permits() }
        val isSaid = plan.kept == seen.held(member.id) && plan.want == seen.wanted(member.id) && !plan.renews
        // A name that is registered without a document would be taken for a lock that has vanished.
        if (isSaid && evicted.isEmpty() && resized == null && isSettled && known != null) return null
        val rung = LinkedHashSet<String>()
        var next = seen
        if (resized != null) {
            if (isOpening && known != null) warnOnce("was opened with $resized permits, and has had ${seen.permits()}")
            next = LockRules.resize(next, resized).also { rung += it.rung }.state
        }
        if (evicted.isNotEmpty()) next = LockRules.evict(next, evicted).also { rung += it.rung }.state
        val at = cluster.clock.instant().toEpochMilli()
        val wish =
            LockRules.Wish(
                member.id,
                cluster.leaseMillis,
                plan.kept,
                plan.want,
                plan.renews,
                cluster.name.orEmpty(),
                at,
            )
        next = LockRules.apply(next, wish).also { rung += it.rung }.state
        return Planned(next, rung - member.id, plan)
    }

    override fun take(seen: LockState, member: Member, write: Write<LockState>?): Int {
        if (write != null) {
            if (declared == seen.permits()) declared = null
            if (!isClosed) holdings.isGivingBack = false
        }
        if (seen.permits() != pool.permits) {
            if (declared == null && write == null) warn("has ${seen.permits()} permits now, and had ${pool.permits}")
            holdings.resize(seen.permits())
        }
        return holdings.adopt(seen, member, (write as Planned?)?.plan, isSettled)
    }
}
