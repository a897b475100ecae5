package baton.distributed.locks

import baton.bridge.PermitPool
import baton.distributed.Lease
import baton.distributed.members.ClusterCore
import baton.distributed.members.Member
import baton.distributed.rules.LockRules
import baton.distributed.rules.LockState
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlin.time.Duration.Companion.milliseconds

/**
 * The permits that this member has of a lock, and the leases of its callers. The permits of the [pool] are those of the
 * member; all others count there as held.
 *
 * With the [guard] free:
 * 1. owned is the number that the document said last. The valid leases hold that many at most.
 * 2. surrendered permits were taken out of the pool, and go back with the next write of the document. They never return
 *    to the pool: a write whose answer was lost may give them back late.
 * 3. A permit of the pool that a caller gets is checked against (1) before the caller gets a lease: it may have been
 *    granted before a loss. If it does not fit it counts as elsewhere, and the caller waits again.
 */
internal class Holdings(
    private val client: LockClient,
    private val cluster: ClusterCore,
    private val pool: PermitPool,
    private val keep: Boolean,
) {
    private val guard = ReentrantLock()
    private val leases = LinkedHashSet<Lease>()
    private var owner: Member? = null
    private var owned = 0
    private var valid = 0
    private var surrendered = 0
    private var nextToken = 0L
    private var lastToken = 0L
    private var handOvers = 0
    private var wasUsed = false

    /** Since when another member has waited; 0 if none does. */
    @Volatile private var contendedSince = 0L
    private val isContended
        get() = contendedSince != 0L

    /** Whether all that is not in use goes back. */
    @Volatile var isGivingBack = false

    /** Whether the document gives anything to this member. */
    val hasAny: Boolean
        get() = guard.withLock { owned > 0 }

    /** Whether one of the leases is held. */
    val holdsNow: Boolean
        get() = guard.withLock { leases.firstOrNull() }?.isHeld == true

    val inUse: Int
        get() = guard.withLock { valid }

    /** A lease of the permits that the caller has got from the pool; null if it has to wait again. */
    fun lease(permits: Int): Lease? {
        val member = guard.withLock { owner } ?: return null
        if (cluster.isOver(member)) return null
        val now = cluster.clock.read()
        val lease = guard.withLock { leaseOf(member, permits, now) }
        if (lease == null) client.signal()
        return lease
    }

    private fun leaseOf(member: Member, permits: Int, now: Long): Lease? {
        if (owner !== member || valid + permits > owned - surrendered) return null
        if (nextToken > lastToken) {
            // They come back with new tokens: none is above those of the next member.
            surrendered += permits
            return null
        }
        wasUsed = true
        valid += permits
        return Lease(client, member, permits, nextToken++, now).also { leases += it }
    }

    fun release(lease: Lease) {
        val now = cluster.clock.read()
        val isPassedOn =
            guard.withLock {
                if (!leases.remove(lease)) return
                valid -= lease.permits
                wasUsed = true
                val leaves = leaves(now)
                if (leaves) surrendered += lease.permits
                leaves
            }
        if (!isPassedOn) pool.bring(lease.permits)
        if (isPassedOn || isContended || pool.demand > 0) client.signal()
    }

    /** Whether a permit that has come back goes to another member, and not to the next caller of this one. */
    private fun leaves(now: Long): Boolean {
        if (isGivingBack || owned - surrendered > pool.permits) return true
        val isAwaited = pool.demand > 0
        if (!isContended) return !keep && !isAwaited
        handOvers++
        return !isAwaited ||
            handOvers >= MOST_HAND_OVERS ||
            now - contendedSince >= LONGEST_HAND_OVERS.inWholeNanoseconds
    }

    /** All of [member] is over. Returns the leases that are lost by it; null if this member has nothing by that one. */
    fun forgetOf(member: Member): List<Lease>? = guard.withLock { if (owner === member) forget() else null }

    /** Everything of a member other than [member] is over. */
    fun forgetOthers(member: Member): List<Lease> =
        guard.withLock { if (owner != null && owner !== member) forget() else emptyList() }

    /** As [forgetOf], whichever the member is. */
    fun forget(): List<Lease> =
        guard.withLock {
            owner = null
            owned = 0
            valid = 0
            surrendered = 0
            contendedSince = 0
            leases.toList().also { leases.clear() }
        }

    /** There are so many permits now, for all members. */
    fun resize(permits: Int) {
        guard.withLock { surrender(pool.resize(permits)) }
    }

    /** [taken] permits are out of the pool. Some of them may be of a former life of this member, and are not there. */
    private fun surrender(taken: Int) {
        surrendered = minOf(surrendered + taken, owned - valid)
    }

    /** After a heartbeat: permits that were not used since the last one go back. Returns whether there are any. */
    fun tick(): Boolean =
        guard.withLock {
            if (owned > 0 && valid == 0 && !wasUsed) isGivingBack = true
            wasUsed = false
            owned > 0
        }

    /** How many permits the member keeps, returns, and wants; [renews] if its tokens are used up. */
    class Plan(val kept: Int, val returned: Int, val want: Int, val renews: Boolean)

    /** The document says [seen]. Takes out of the pool what is to go back. */
    fun plan(seen: LockState, member: Member): Plan {
        val now = maxOf(cluster.clock.read(), 1)
        return guard.withLock {
            val demand = pool.demand
            val isAwaitedElsewhere = seen.othersWait(member.id)
            contendedSince = if (!isAwaitedElsewhere) 0 else if (isContended) contendedSince else now
            val ownsAll = owned - surrendered >= seen.permits()
            val isUnwanted = !keep && demand == 0 // the caller was cancelled as this was granted
            if (isGivingBack || isAwaitedElsewhere || isUnwanted || demand > 0 && !ownsAll) surrender(pool.withdraw())
            val kept = (owned - surrendered).coerceAtLeast(0)
            val want = if (kept >= seen.permits()) 0 else demand
            Plan(kept, surrendered, want, renews = kept > 0 && lastToken - nextToken < LockRules.TOKENS / 2)
        }
    }

    /**
     * The document says [seen], by a write of this member, whose [plan] that was, or by another one. Returns how many
     * permits it grants, which come into the pool then; below 0 if another hand has taken some. If the document is not
     * settled, permits that may be of a lost write go back, and are wanted anew.
     */
    fun adopt(seen: LockState, member: Member, plan: Plan?, isSettled: Boolean): Int =
        guard.withLock {
            if (member.loss != null) return 0
            owner = member
            val held = seen.held(member.id)
            val used = (owned - surrendered).coerceAtLeast(0)
            val granted =
                when {
                    plan != null -> held - plan.kept
                    isSettled -> held - owned
                    held < used -> TAKEN
                    else -> 0
                }
            if (plan != null) surrendered = (surrendered - plan.returned).coerceAtLeast(0)
            else if (!isSettled) surrendered = (held - used).coerceAtLeast(0)
            owned = held
            val first = seen.firstToken(member.id)
            if (first > lastToken) {
                nextToken = first
                lastToken = first + LockRules.TOKENS - 1
                handOvers = 0
            }
            granted
        }

    private companion object {
        const val MOST_HAND_OVERS = 16
        val LONGEST_HAND_OVERS = 20.milliseconds
        const val TAKEN = -1
    }
}
