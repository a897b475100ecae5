package baton.distributed.locks

import baton.bridge.bringTo
import baton.bridge.demandOf
import baton.bridge.onDemand
import baton.bridge.resizePool
import baton.bridge.withdrawFrom
import baton.distributed.Lease
import baton.distributed.StoredDocument
import baton.distributed.members.ClusterCore
import baton.distributed.members.ClusterLock
import baton.distributed.members.Member
import baton.distributed.members.isOfStore
import baton.distributed.members.parsed
import baton.distributed.members.stored
import baton.distributed.rules.LockRules
import baton.distributed.rules.LockState
import baton.distributed.rules.NamesState
import baton.monitoring.Usage
import baton.sync.Semaphore
import baton.waiting.threads.HandOverExecutor
import baton.waiting.threads.Trampoline
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.locks.ReentrantLock
import kotlin.concurrent.withLock
import kotlin.time.Duration.Companion.milliseconds

/**
 * The part of a cluster that deals with one lock. Its callers wait in a local queue, the [pool], whose permits are
 * those that this member has in the document of the lock. One coroutine at a time, [drive], makes the document say what
 * the queue needs.
 *
 * With the [guard] free:
 * 1. owned is what the document said last that this member has. The valid leases hold that at most.
 * 2. surrendered permits were taken out of the pool, and go back with the next write of the document. They never return
 *    to the pool: a write whose answer was lost may give them back late.
 * 3. A permit of the pool that a caller gets is checked against (1) before the caller gets a lease: it may have been
 *    granted before a loss. If it does not fit it counts as elsewhere, and the caller waits again.
 * 4. A write whose answer was lost may happen until another one has been stored: until then the document is not
 *    settled, and is written also if it says what it should.
 */
internal class LockClient(
    private val cluster: ClusterCore,
    private val kind: String,
    val name: String,
    permits: Int,
    private val keep: Boolean,
) : ClusterLock {
    private val key = cluster.keyOf(kind, name)
    val pool = Semaphore(permits, acquired = permits, name = name)
    val label: String
        get() = "${kind.replaceFirstChar { it.uppercase() }} '$name' of ${cluster.label}"

    private val guard = ReentrantLock()
    private val leases = LinkedHashSet<Lease>()
    private var owner: Member? = null
    private var owned = 0
    private var valid = 0
    private var surrendered = 0
    private var nextToken = 0L
    private var lastToken = 0L
    private var handOvers = 0

    /** Since when another member has waited; 0 if none does. */
    @Volatile private var contendedSince = 0L
    private val isContended
        get() = contendedSince != 0L

    private var wasUsed = false
    @Volatile private var isGivingBack = false
    @Volatile private var isClosed = false

    // Confined to the dispatcher of the cluster.
    private var known: StoredDocument? = null
    private var state: LockState? = null
    @Volatile private var isSettled = true
    private var declared: Int? = permits
    private var isOpening = true
    private val asked = ArrayList<() -> Unit>()

    @Volatile private var isStale = true
    private val signals = AtomicInteger()

    init {
        onDemand(pool) { signal() }
    }

    // ---- callers

    /** A lease of the permits that the caller has got from the pool; null if it has to wait again. */
    fun lease(permits: Int): Lease? {
        val member = guard.withLock { owner } ?: return null
        return if (cluster.isOver(member)) null else guard.withLock { leaseOf(member, permits) }
    }

    private fun leaseOf(member: Member, permits: Int): Lease? {
        if (owner !== member || valid + permits > owned) return null
        wasUsed = true
        valid += permits
        if (nextToken > lastToken) signal()
        return Lease(this, member, permits, nextToken++).also { leases += it }
    }

    fun release(lease: Lease) {
        val isPassedOn =
            guard.withLock {
                if (!leases.remove(lease)) return
                valid -= lease.permits
                wasUsed = true
                val leaves = leaves()
                if (leaves) surrendered += lease.permits
                leaves
            }
        if (!isPassedOn) bringTo(pool, lease.permits)
        if (isPassedOn || isContended) signal()
    }

    /** Whether a permit that has come back goes to another member, and not to the next caller of this one. */
    private fun leaves(): Boolean {
        if (isGivingBack) return true
        val isAwaited = demandOf(pool) > 0
        if (contendedSince == 0L) return !keep && !isAwaited
        handOvers++
        return !isAwaited ||
            handOvers >= MOST_HAND_OVERS ||
            cluster.clock.read() - contendedSince >= LONGEST_HAND_OVERS.inWholeNanoseconds
    }

    /** Whether the leases of [member] may be over. */
    fun isOver(member: Member): Boolean = cluster.isOver(member) || cluster.isDoubtful(member)

    val inUse: Int
        get() = guard.withLock { valid }

    fun usage(): Usage {
        val waits = pool.usage()
        return Usage(
            inUse = inUse.toLong(),
            capacity = pool.permits.toLong(),
            waiting = waits.waiting,
            longestWait = waits.longestWait,
            peakWaiting = waits.peakWaiting,
            waiters = waits.waiters,
        )
    }

    override fun toString() = "$label (permits = ${pool.permits}, in use here = $inUse, waiting here = ${pool.waiting})"

    /** Runs [seen] once the document has been written, or read, with what the callers want now. */
    fun ask(seen: () -> Unit) {
        cluster.launch {
            asked += seen
            isStale = true
            signal()
        }
    }

    fun now(): Long = cluster.clock.read()

    val trouble: Throwable?
        get() = cluster.calls.trouble

    /** The number of permits for all members, from the next write on. */
    fun resize(permits: Int) {
        cluster.launch {
            declared = permits
            signal()
        }
    }

    // ---- losses

    override fun lose(member: Member, why: String) {
        val lost =
            guard.withLock {
                if (owner !== member) return
                forget()
            }
        isSettled = false
        tell(lost, why)
    }

    override suspend fun verify(): Boolean? {
        if (guard.withLock { owned == 0 }) return null
        val isThere = cluster.calls.call { read(key) }.isPresent
        if (!isThere) loseLock("its document has vanished from ${cluster.calls.store}")
        return isThere
    }

    /** What this member had of this lock is over. Called on the dispatcher of the cluster. */
    fun loseLock(why: String) {
        val lost = guard.withLock { forget() }
        known = null
        isSettled = false
        tell(lost, why)
    }

    private fun forget(): List<Lease> {
        owner = null
        owned = 0
        valid = 0
        surrendered = 0
        contendedSince = 0
        return leases.toList().also { leases.clear() }
    }

    private fun tell(lost: List<Lease>, why: String) {
        withdrawFrom(pool)
        isStale = true
        for (lease in lost) lease.lose(why)
        // What the document still says that this member has, or had, goes back.
        if (!isClosed) signal()
    }

    // ---- signals

    override fun rung() {
        isStale = true
        signal()
    }

    /** A kept permit that was not used since the last one goes back. */
    override fun tick() {
        val needsLook =
            guard.withLock {
                if (owned > 0 && valid == 0 && !wasUsed) isGivingBack = true
                wasUsed = false
                owned > 0
            }
        if (needsLook || (state?.queue()?.isNotEmpty() == true)) rung()
    }

    override fun poll() {
        if (guard.withLock { owned > 0 } || demandOf(pool) > 0) rung()
    }

    fun signal() {
        if (signals.getAndIncrement() == 0) cluster.launch { drivePatiently() }
    }

    private suspend fun drivePatiently() {
        while (true) {
            val seen = signals.get()
            try {
                drive()
            } catch (e: Throwable) {
                known = null
                isStale = true
                if (e.isOfStore) {
                    isSettled = false
                    cluster.calls.awaitTry()
                    continue
                }
                if (isClosed) throw e
                pool.close(e)
                Trampoline.report(IllegalStateException("$label grants nothing any more", e))
            }
            if (signals.compareAndSet(seen, 0)) return
        }
    }

    // ---- the document

    private suspend fun drive() {
        while (!isIdle() && !drive(cluster.member())) {
            // The member was lost meanwhile.
        }
    }

    /** True once the document says what it should. */
    private suspend fun drive(member: Member): Boolean {
        var races = 0
        while (cluster.current === member) {
            val before = load(member) ?: continue
            val write = wish(before, member)
            waitFor(write?.step?.state ?: before, member)
            if (write == null) {
                answer()
                return true
            }
            val step = write.step
            val expected = known?.version() ?: 0
            val version = if (expected == 0L) cluster.calls.call { now() } else expected + 1
            val next = stored(version, step.state.toText())
            val answer = cluster.calls.call { compareAndSet(key, expected, next, step.rung) }
            if (answer.isStored) {
                if (expected == 0L && !cluster.isSameEpoch(member)) return false
                isSettled = true
                if (declared == step.state.permits()) declared = null
                if (!isClosed) isGivingBack = false
                adopt(next, step.state, member, write)
            } else {
                if (++races > FREE_RACES) cluster.calls.pauseAfterRace(races)
                answer.current().ifPresentOrElse({ adopt(it, parse(it), member) }, { known = null })
            }
        }
        return false
    }

    private fun isIdle() =
        guard.withLock {
            isSettled &&
                owned == 0 &&
                demandOf(pool) == 0 &&
                asked.isEmpty() &&
                declared == null &&
                (state?.queue()?.isEmpty() != false)
        }

    private fun parse(document: StoredDocument) = parsed(key, document) { LockState.parse(it) }

    /** The document as it is, or as this member would begin it. Null if another look is needed. */
    private suspend fun load(member: Member): LockState? {
        val seen = state
        if (known != null && !isStale && seen != null) return seen
        isStale = false
        val document = cluster.calls.call { read(key) }.orElse(null)
        if (document != null) {
            val read = parse(document)
            adopt(document, read, member)
            return read
        }
        if (guard.withLock { owned > 0 }) loseLock("its document has vanished from ${cluster.calls.store}")
        known = null
        if (!register() && !cluster.restOf(key)) return null
        val fence = cluster.calls.call { now() } * NANOS_PER_MICRO
        return LockState.create(pool.permits, fence).also { state = it }
    }

    /** Whether the key has never been used. From now on it has. */
    private suspend fun register(): Boolean {
        val namesKey = cluster.keyOf("names", NamesState.indexOf(key).toString())
        while (true) {
            val document = cluster.calls.call { read(namesKey) }.orElse(null)
            val names =
                document?.let { parsed(namesKey, it) { text -> NamesState.parse(text) } } ?: NamesState(emptyList())
            if (key in names.keys()) return false
            val expected = document?.version() ?: 0
            val version = if (expected == 0L) cluster.calls.call { now() } else expected + 1
            val next = stored(version, names.with(key).toText())
            if (cluster.calls.call { compareAndSet(namesKey, expected, next, emptyList()) }.isStored) return true
        }
    }

    /** What is to be written, and how many of the permits that this member has it keeps and gives back. */
    private class Write(val step: LockRules.Step, val kept: Int, val returned: Int)

    /** What the document is to say; null if it says so. */
    private fun wish(seen: LockState, member: Member): Write? =
        guard.withLock {
            val demand = demandOf(pool)
            val isAwaitedElsewhere = seen.othersWait(member.id)
            contendedSince =
                if (!isAwaitedElsewhere) 0 else if (isContended) contendedSince else maxOf(cluster.clock.read(), 1)
            val ownsAll = owned - surrendered >= seen.permits()
            if (isGivingBack || isAwaitedElsewhere || demand > 0 && !ownsAll) surrendered += withdrawFrom(pool)
            val kept = (owned - surrendered).coerceAtLeast(0)
            val want = if (kept >= seen.permits()) 0 else demand
            val renew = kept > 0 && nextToken > lastToken
            val evicted = seen.others(member.id).keys.filterTo(HashSet()) { cluster.isDead(it) }
            val resized = declared?.takeIf { it != seen.permits() }
            val isSaid = kept == seen.held(member.id) && want == seen.wanted(member.id)
            val isAll = !renew && evicted.isEmpty() && resized == null && isSettled
            if (isSaid && isAll && (known != null || want == 0)) return null
            val rung = LinkedHashSet<String>()
            var next = seen
            if (resized != null) {
                if (isOpening && known != null) warn("was opened with $resized permits, and has had ${seen.permits()}")
                next = LockRules.resize(next, resized).also { rung += it.rung }.state
            }
            if (evicted.isNotEmpty()) next = LockRules.evict(next, evicted).also { rung += it.rung }.state
            val wish = LockRules.Wish(member.id, cluster.leaseMillis, kept, want, renew)
            next = LockRules.apply(next, wish).also { rung += it.rung }.state
            Write(LockRules.Step(next, rung - member.id), kept, surrendered)
        }

    /**
     * The document says [seen], by this member's own [write] or by another one. What it grants comes into the pool; but
     * not while the document is not settled: what may be of a lost write goes back, and is wanted anew.
     */
    private fun adopt(document: StoredDocument, seen: LockState, member: Member, write: Write? = null) {
        known = document
        state = seen
        if (seen.permits() != pool.permits) {
            if (declared == null && write == null) warn("has ${seen.permits()} permits now, and had ${pool.permits}")
            resizePool(pool, seen.permits())
        }
        isOpening = false
        val held = seen.held(member.id)
        val granted =
            guard.withLock {
                if (member.loss != null) return
                if (owner !== member) {
                    forget()
                    owner = member
                }
                val used = (owned - surrendered).coerceAtLeast(0)
                val granted =
                    when {
                        write != null -> held - write.kept
                        isSettled -> held - owned
                        held < used -> NONE
                        else -> 0
                    }
                surrendered =
                    when {
                        write != null -> (surrendered - write.returned).coerceAtLeast(0)
                        isSettled -> surrendered
                        else -> (held - used).coerceAtLeast(0)
                    }
                owned = held
                val first = seen.firstToken(member.id)
                if (first > lastToken) {
                    nextToken = first
                    lastToken = first + LockRules.TOKENS - 1
                    handOvers = 0
                }
                granted
            }
        if (granted < 0) loseLock("its document in ${cluster.calls.store} was changed by another hand")
        else if (granted > 0) deliver(granted)
    }

    /** Callers may run in place: not on the thread of the heartbeats. */
    private fun deliver(permits: Int) {
        if (!cluster.hasOwnThread) return bringTo(pool, permits)
        HandOverExecutor.execute { bringTo(pool, permits) }
    }

    private fun warn(what: String) {
        Trampoline.report(IllegalStateException("$label $what: its members name different numbers"))
    }

    private fun waitFor(seen: LockState, member: Member) {
        val isWaiting = seen.wanted(member.id) > 0
        cluster.watches.watch(key, if (isWaiting) seen.others(member.id) else emptyMap()) { rung() }
    }

    private fun answer() {
        val all = asked.toList()
        asked.clear()
        all.forEach { it() }
    }

    // ---- the end

    override fun shutDown() {
        isClosed = true
        pool.close(IllegalStateException("${cluster.label} is closed"))
        guard.withLock { isGivingBack = true }
        signal()
    }

    override suspend fun awaitEnd() {
        while (guard.withLock { owned > 0 }) cluster.calls.sleep(END_POLL)
    }

    private companion object {
        const val MOST_HAND_OVERS = 16
        val LONGEST_HAND_OVERS = 20.milliseconds
        val END_POLL = 10.milliseconds
        const val FREE_RACES = 2
        const val NANOS_PER_MICRO = 1_000L
        const val NONE = -1
    }
}
