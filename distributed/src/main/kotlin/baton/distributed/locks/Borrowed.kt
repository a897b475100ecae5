package baton.distributed.locks

import baton.bridge.PermitPool
import baton.distributed.members.ClusterCore
import baton.distributed.members.Member
import baton.distributed.rules.LimitState
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlin.time.Duration.Companion.milliseconds

/**
 * The tokens that this member has borrowed of a limiter. Those of the [pool] may be used by callers.
 *
 * With the [guard] free:
 * 1. owned is the number that the document said last. At most unspent of them may still be used.
 * 2. A token of the pool that a caller gets is checked against unspent before it is used: it may have been granted
 *    before a loss.
 * 3. What is given back, and the answer of which is lost, is lost. It never returns to the pool.
 */
internal class Borrowed(private val cluster: ClusterCore, private val pool: PermitPool) {
    private val guard = ReentrantLock()
    private var owner: Member? = null
    private var owned = 0
    private var unspent = 0
    private var wasUsed = false

    private var lastUse = 0L
    private var windowStart = 0L
    private var usedInWindow = 0L
    private var usedBefore = 0L

    /** How many tokens were used here in all. */
    var granted = 0L
        get() = guard.withLock { field }
        private set

    /** Whether all that is not used goes back. */
    @Volatile var isGivingBack = false

    val hasAny: Boolean
        get() = guard.withLock { owned > 0 }

    val left: Int
        get() = guard.withLock { unspent }

    /** Whether the wall clock says that this may have been suspended. Until the next heartbeat nothing is used. */
    val isDoubtful: Boolean
        get() = guard.withLock { owner }?.let { cluster.isDoubtful(it) } == true

    /** Uses [permits] that the caller has got from the pool; false if it has to wait again. */
    fun use(permits: Int): Boolean {
        val member = guard.withLock { owner } ?: return false
        if (cluster.isOver(member)) return false
        val isDoubtful = cluster.isDoubtful(member)
        val now = cluster.clock.read()
        return guard.withLock {
            if (owner !== member || permits > unspent) return false
            unspent -= permits
            lastUse = maxOf(lastUse, now)
            wasUsed = true
            if (!isDoubtful) {
                granted += permits
                count(permits, now)
            }
            !isDoubtful
        }
    }

    private fun count(permits: Int, now: Long) {
        val windows = (now - windowStart) / WINDOW.inWholeNanoseconds
        if (windows > 0) {
            usedBefore = if (windows == 1L) usedInWindow else 0
            usedInWindow = 0
            windowStart = now
        }
        usedInWindow += permits
    }

    /** How many were used in the last tenth of a second, or in the one before it. */
    fun usedLately(): Int =
        guard.withLock {
            count(0, cluster.clock.read())
            maxOf(usedBefore, usedInWindow).coerceAtMost(Int.MAX_VALUE.toLong()).toInt()
        }

    /** After a heartbeat: tokens that were not used since the last one go back. Returns whether there are any. */
    fun tick(): Boolean =
        guard.withLock {
            if (owned > 0 && !wasUsed) isGivingBack = true
            wasUsed = false
            owned > 0
        }

    /** How many of the owned tokens are gone, and how many go back; and how long none was used. */
    class Plan(val used: Int, val returned: Int, val idleMicros: Long)

    /**
     * The next write. With [returnsAll], takes out of the pool the permits that go back; if it [isLast], none is left.
     */
    fun plan(returnsAll: Boolean, isLast: Boolean): Plan {
        val now = cluster.clock.read()
        return guard.withLock {
            val returned = if (returnsAll) pool.withdraw().coerceAtMost(unspent) else 0
            unspent = if (isLast) 0 else unspent - returned
            // The clock of the store may be slower than that of this member by a tenth.
            val idleMicros = (now - lastUse).coerceAtLeast(0) / NANOS_PER_MICRO / TENTHS * (TENTHS - 1)
            Plan(owned - unspent - returned, returned, idleMicros)
        }
    }

    /** Whether a [plan] that returns all would change the document. */
    fun hasNews(isLast: Boolean): Boolean = guard.withLock { owned > unspent || owned > 0 && (isLast || pool.free > 0) }

    /** [taken] tokens are out of the pool, and are lost. */
    fun drop(taken: Int) {
        guard.withLock { unspent = (unspent - taken).coerceAtLeast(0) }
    }

    /**
     * The document says [seen], by a write of this member, whose [plan] that was, or by another one. Returns how many
     * tokens it grants; below 0 if another hand has taken some. If it is not settled, what it gives beyond the known
     * tokens may be of a lost write and counts as used.
     */
    fun adopt(seen: LimitState, member: Member, plan: Plan?, isSettled: Boolean): Int =
        guard.withLock {
            if (member.loss != null) return 0
            owner = member
            val lent = seen.lent(member.id)
            val granted = if (!isSettled) 0 else lent - owned + if (plan == null) 0 else plan.used + plan.returned
            owned = lent
            if (granted > 0) unspent += granted else unspent = unspent.coerceAtMost(lent)
            granted
        }

    /** All of [member] is over. False if this member has nothing by that one. */
    fun forgetOf(member: Member): Boolean = guard.withLock { (owner === member).also { if (it) forget() } }

    /** Everything of a member other than [member] is over. */
    fun forgetOthers(member: Member) {
        guard.withLock { if (owner != null && owner !== member) forget() }
    }

    /** As [forgetOf], whichever the member is. */
    fun forget() {
        guard.withLock {
            owner = null
            owned = 0
            unspent = 0
        }
    }

    companion object {
        private const val NANOS_PER_MICRO = 1_000L
        private const val TENTHS = 10
        val WINDOW = 100.milliseconds
    }
}
