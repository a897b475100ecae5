package baton.distributed.locks

import baton.bridge.PermitPool
import baton.distributed.Lease
import baton.distributed.members.ClusterCore
import baton.distributed.members.Member
import baton.distributed.rules.LimitRules
import baton.distributed.rules.LimitState
import baton.distributed.rules.LimitState.Limit
import baton.monitoring.Usage
import kotlin.time.Duration
import kotlin.time.Duration.Companion.ZERO
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.Job

/**
 * The part of a cluster that deals with one limiter, see [Borrowed]. While it waits, a timer writes the document once
 * the tokens have come for its place, and for those before it: so a member that is stopped holds up no other.
 */
internal class LimitClient(cluster: ClusterCore, name: String, limit: Limit) :
    DocumentClient<LimitState>(cluster, KIND, name) {
    override val pool = PermitPool(limit.burst, title, this) { signal() }

    private val borrowed = Borrowed(cluster, pool)

    // Confined to the dispatcher of the cluster.
    private var declared: Limit? = limit
    private var planned: Planned? = null
    private var timer: Job? = null
    private var isDue = false
    private var hasTriedInVain = false
    private var sighting = Sighting(0, 0)
    private var loansAtTick = emptyList<LimitState.Loan>()
    private var suspects = emptySet<String>()

    /** The document said this [time] for the first time [at] this moment of the own clock. */
    private class Sighting(val time: Long, val at: Long)

    /** The plan of the next write, until that is stored, and the clock of the store after the planning. */
    private class Planned(val plan: Borrowed.Plan, val reading: Long)

    @Volatile
    var limit: Limit = limit
        private set

    // ---- callers

    /** Takes [permits], waiting for them if necessary. */
    suspend fun acquire(permits: Int) {
        while (true) {
            pool.acquire(permits)
            if (borrowed.use(permits)) return
            while (borrowed.isDoubtful) cluster.calls.sleep(cluster.lease / POLLS)
        }
    }

    /** As [acquire], but false if they are not there within [timeout]. Zero or less asks the store once. */
    suspend fun acquireWithin(permits: Int, timeout: Duration): Boolean {
        if (timeout <= ZERO) return acquireNow(permits)
        if (timeout.isInfinite()) {
            acquire(permits)
            return true
        }
        val start = now()
        var left = timeout
        while (left > ZERO) {
            if (!pool.tryAcquire(permits, left)) return false
            if (borrowed.use(permits)) return true
            do {
                left = timeout - (now() - start).nanoseconds
                val isDoubtful = borrowed.isDoubtful
                if (isDoubtful) cluster.calls.sleep(minOf(left, cluster.lease / POLLS))
            } while (isDoubtful && left > ZERO)
        }
        return false
    }

    suspend fun acquireNow(permits: Int): Boolean {
        while (takeNow(permits)) {
            if (borrowed.use(permits)) return true
            if (borrowed.isDoubtful) return false
        }
        return false
    }

    /** How long it takes until [permits] more come than the members wait for, as far as this member knows. */
    fun nanosUntil(permits: Int): Long {
        val seen = state ?: return 0
        return seen.nanosUntil(seen.queue().sumOf { it.need().toLong() } + permits)
    }

    val left: Int
        get() = borrowed.left

    val granted: Long
        get() = borrowed.granted

    override fun usage(): Usage = usage(emptyMap())

    fun usage(totals: Map<String, Long>): Usage {
        val burst = limit.burst
        val there = (state?.tokens() ?: burst) + left
        return pool.usage(burst - there.coerceAtMost(burst), totals)
    }

    /** The limit for all members, from the next write on. */
    fun change(limit: Limit) {
        cluster.launch {
            declared = limit
            signal()
        }
    }

    override fun tick() {
        val loans = state?.loans().orEmpty()
        suspects = loans.filter { it in loansAtTick }.mapTo(HashSet()) { it.member() }
        loansAtTick = loans
        if (borrowed.tick() || state?.queue()?.isNotEmpty() == true) rung() else beatUnused()
    }

    /**
     * A dead member holds up no other by its place, but by what it has borrowed: those are watched of which the first
     * member in the queue needs it, or who have not written for two heartbeats.
     */
    override fun watched(seen: LimitState, member: Member): Map<String, Long> {
        val others = seen.others(member.id)
        return if (seen.isBlocked()) others else others.filterKeys { it in suspects }
    }

    // ---- the document

    override val hasAny: Boolean
        get() = borrowed.hasAny

    override val isChanging: Boolean
        get() = declared != null && !isOpening

    override fun parse(text: String): LimitState = LimitState.parse(text)

    override suspend fun create(isNew: Boolean, fence: Long): LimitState {
        val now = cluster.calls.call { now() }
        return LimitState.create(limit, maxOf(now * NANOS_PER_MICRO, fence), now, isNew)
    }

    /** The next document begins full. So this ends when it is full, too, by a clock that may be slow by a tenth. */
    override fun mayEnd(last: LimitState): Boolean {
        val passed = (now() - sighting.at) / TENTHS * (TENTHS - 1)
        return passed >= last.nanosUntil(last.limit().burst().toLong())
    }

    override fun forget(): List<Lease> = emptyList<Lease>().also { borrowed.forget() }

    override fun forgetOf(member: Member): List<Lease>? = if (borrowed.forgetOf(member)) emptyList() else null

    override fun forgetOthers(member: Member): List<Lease> = emptyList<Lease>().also { borrowed.forgetOthers(member) }

    override fun giveBack() {
        borrowed.isGivingBack = true
    }

    private class LimitWrite(state: LimitState, rung: Set<String>, val planned: Planned) :
        Write<LimitState>(state, rung)

    override suspend fun nextWrite(seen: LimitState, member: Member): Write<LimitState>? {
        val evicted = seen.others(member.id).keys.filterTo(HashSet()) { cluster.isDead(it) }
        val changed = declared?.takeIf { it != seen.limit() }
        // A name that is registered without a document would be taken for a limiter that has vanished.
        val isSaid = known != null && evicted.isEmpty() && changed == null && isSettled && isSaid(seen, member)
        if (!isSettled || isSaid && planned?.plan?.returned == 0) planned = null
        if (isSaid && planned == null) return null
        val planned = planned ?: plan(seen, member).also { planned = it }
        val rung = LinkedHashSet<String>()
        var next = turnedBack(seen, planned.reading)
        if (changed != null || evicted.isNotEmpty()) next = LimitRules.refill(next, planned.reading)
        if (changed != null) {
            if (isOpening && known != null) {
                warnOnce("was opened with ${text(changed)}, and has had ${text(seen.limit())}")
            }
            next = LimitRules.change(next, changed).also { rung += it.rung }.state
        }
        if (evicted.isNotEmpty()) next = LimitRules.evict(next, evicted).also { rung += it.rung }.state
        next = LimitRules.apply(next, planned.reading, wish(next, member, planned.plan)).also { rung += it.rung }.state
        return LimitWrite(next, rung - member.id, planned)
    }

    /** Whether the document needs no write of this member. */
    private fun isSaid(seen: LimitState, member: Member): Boolean {
        if (isGivingBack(seen, member) && borrowed.hasNews(isClosed)) return false
        val need = needNow()
        val index = seen.indexOf(member.id)
        if (need == 0) return index < 0
        return index >= 0 && seen.queue()[index].need() >= need && !isDue
    }

    /** Also if another member waits for tokens that this one may have. */
    private fun isGivingBack(seen: LimitState, member: Member) =
        borrowed.isGivingBack || seen.isBlocked() && seen.indexOf(member.id) != 0

    /** How many tokens the first caller lacks; 0 if no caller waits. */
    private fun needNow(): Int {
        val demand = pool.demand
        return if (demand == 0) 0 else (demand - pool.free).coerceAtLeast(1)
    }

    /** First what is used, and then the clock of the store: see [LimitRules]. */
    private suspend fun plan(seen: LimitState, member: Member): Planned {
        isDue = false
        val plan = borrowed.plan(isSettled && isGivingBack(seen, member), isClosed)
        return Planned(plan, cluster.calls.call { now() })
    }

    /** In demand a member waits until a block has come, so that the document is not written for each token. */
    private fun wish(seen: LimitState, member: Member, plan: Borrowed.Plan): LimitRules.Wish {
        val need = needNow()
        var want = 0
        var least = 0
        if (need > 0) {
            val limit = seen.limit()
            val share = LimitRules.share(limit, seen.members(member.id))
            val used = borrowed.usedLately()
            val demand = maxOf(pool.waiting, used)
            least = maxOf(need, minOf(LimitRules.tokensIn(limit, BATCH.inWholeNanoseconds), share, demand))
            want = maxOf(need, (pool.waiting.toLong() + used).coerceAtMost(limit.burst().toLong()).toInt())
        }
        return LimitRules.Wish(member.id, cluster.leaseMillis, plan.used, plan.returned, plan.idleMicros, least, want)
    }

    /**
     * If the clock of the store stays behind the document for a whole lease, it was turned back, and goes on from
     * there.
     */
    private fun turnedBack(seen: LimitState, reading: Long): LimitState {
        hasTriedInVain = reading < seen.time()
        if (!hasTriedInVain || seen.time() != sighting.time) return seen
        return if (now() - sighting.at < cluster.lease.inWholeNanoseconds) seen else LimitRules.turnBack(seen, reading)
    }

    override fun take(seen: LimitState, member: Member, write: Write<LimitState>?): Int {
        val mine = (write as LimitWrite?)?.planned
        if (sighting.time != seen.time()) sighting = Sighting(seen.time(), now())
        if (mine != null) {
            if (declared == seen.limit()) declared = null
            planned = null
            borrowed.isGivingBack = isClosed
        }
        if (seen.limit() != limit) {
            if (declared == null && write == null) warn("has ${text(seen.limit())} now, and had ${text(limit)}")
            limit = seen.limit()
            borrowed.drop(pool.resize(limit.burst))
        }
        return borrowed.adopt(seen, member, mine?.plan, isSettled)
    }

    /** Waits for the tokens of its place. */
    override fun rested(seen: LimitState, member: Member) {
        declared = null // the document says it
        timer?.cancel(null)
        timer = null
        isDue = false
        if (!seen.isQueued(member.id)) return
        val due = sighting.at.nanoseconds + seen.nanosUntilTurn(member.id).nanoseconds
        // Where the clock of the store was turned back, no write brings anything for a while.
        val wait = maxOf(due - now().nanoseconds, if (hasTriedInVain) cluster.lease / POLLS else ZERO)
        // In demand one write grants the blocks of several members.
        val slack = if (seen.queue().size > 1) BATCH / POLLS else 1.milliseconds
        timer =
            cluster.launch {
                cluster.calls.sleep(wait + slack)
                isDue = true
                signal()
            }
    }

    override fun toString(): String =
        "$label (${text(limit)}, borrowed = $left, waiting here = ${pool.waiting}${if (isClosed) ", closed" else ""})"

    companion object {
        const val KIND = "rateLimiter"
        private const val POLLS = 10
        private const val TENTHS = 10
        private val BATCH = 100.milliseconds

        fun text(limit: Limit): String = "${limit.permits} per ${limit.nanos.nanoseconds}, burst = ${limit.burst}"
    }
}
