package baton.distributed.locks

import baton.bridge.PermitPool
import baton.distributed.Lease
import baton.distributed.StoredDocument
import baton.distributed.members.ClusterCore
import baton.distributed.members.ClusterLock
import baton.distributed.members.Member
import baton.distributed.members.isOfStore
import baton.distributed.members.parsed
import baton.distributed.rules.EndedState
import baton.distributed.rules.LockRules
import baton.distributed.rules.LockState
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.waiting.threads.Trampoline
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds

/**
 * The part of a cluster that deals with one lock. Its callers wait in a local queue, the [pool]. One coroutine at a
 * time, [drive], makes the document of the lock say what the queue needs, and takes from it what was granted, see
 * [Holdings].
 *
 * A write whose answer was lost may happen until another one has been stored. Until then the document is not settled:
 * it is written also if it says what it should, and nothing that it grants is used.
 */
internal class LockClient(
    private val cluster: ClusterCore,
    private val kind: String,
    override val name: String,
    permits: Int,
    keep: Boolean,
) : ClusterLock, Monitored {
    override val key: String = cluster.keyOf(kind, name)
    val pool = PermitPool(permits, this) { signal() }
    val label: String
        get() = "${kind.replaceFirstChar { it.uppercase() }} '$name' of ${cluster.label}"

    private val holdings = Holdings(this, cluster, pool, keep)

    @Volatile private var isClosed = false

    // Confined to the dispatcher of the cluster.
    private var known: StoredDocument? = null
    private var state: LockState? = null
    @Volatile private var isSettled = true
    private var declared: Int? = permits
    private var isOpening = true
    private val asked = ArrayList<(Throwable?) -> Unit>()

    /** Heartbeats since this member has seen anything new. */
    private var unusedBeats = 0

    @Volatile private var isStale = true
    private val signals = AtomicInteger()

    /** Permits that were granted, and that another thread is about to bring into the pool. */
    private val underWay = AtomicInteger()

    /** The mark of the document of which the epoch was read after it: it is no remnant of a store that was emptied. */
    private var provenBorn = 0L

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

    override fun usage(): Usage = pool.usage(inUse)

    override fun toString() = "$label (permits = ${pool.permits}, in use here = $inUse, waiting here = ${pool.waiting})"

    /** Runs [seen] once the document has been written, or read, with what the callers want now; or could not be. */
    fun ask(seen: (Throwable?) -> Unit) {
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
        val lost = holdings.forgetOf(member) ?: return
        isSettled = false
        tellAndSettle(lost, why)
    }

    override suspend fun verify(): Boolean? {
        if (!holdings.hasAny) return null
        val isThere = cluster.calls.call { read(key) }.isPresent
        if (!isThere) loseLock("its document has vanished from ${cluster.calls.store}")
        return isThere
    }

    /** The leases of this lock are lost. Called on the dispatcher of the cluster. */
    fun loseLock(why: String) {
        val lost = holdings.forget()
        known = null
        isSettled = false
        tellAndSettle(lost, why)
    }

    /** The permits that the document still gives to this member go back; a shutdown waits for that. */
    private fun tellAndSettle(lost: List<Lease>, why: String) {
        tell(lost, why)
        if (!isClosed || cluster.isAwaitingLocks) signal()
    }

    /** No listener holds up the loss of another lease. */
    private fun tell(lost: List<Lease>, why: String) {
        pool.withdraw()
        isStale = true
        val told = lost.filter { it.lose(why) }
        told.forEach(::tell)
    }

    fun tell(lease: Lease) {
        cluster.callOut { lease.tell() }
    }

    // ---- signals

    override fun rung() {
        isStale = true
        signal()
    }

    override fun tick() {
        if (holdings.tick() || state?.queue()?.isNotEmpty() == true) return rung()
        unusedBeats++
        if (unusedBeats >= LAST_BEATS) signal()
    }

    override fun poll() {
        if (holdings.hasAny || pool.demand > 0) rung()
    }

    fun signal() {
        if (signals.getAndIncrement() == 0) cluster.launch { drivePatiently() }
    }

    private suspend fun drivePatiently() {
        while (true) {
            val seen = signals.get()
            cluster.works(this)
            try {
                drive()
            } catch (e: Throwable) {
                known = null
                isStale = true
                answer(e)
                if (e.isOfStore) {
                    isSettled = false
                    cluster.calls.awaitTry()
                    continue
                }
                if (isClosed) {
                    signals.set(0)
                    isSettled = true // it cannot be
                    tell(holdings.forget(), "$label is closed, and its document cannot be read: $e")
                    throw e
                }
                cluster.callOut { pool.close(e) }
                Trampoline.report(IllegalStateException("$label grants nothing any more", e))
            }
            if (isIdle() && !isLast()) cluster.rests(this)
            if (signals.compareAndSet(seen, 0)) return
        }
    }

    // ---- the document

    private suspend fun drive() {
        while (!isIdle() && !drive(cluster.member())) {
            // The member was lost meanwhile.
        }
        if (unusedBeats >= LAST_BEATS && isIdle() && isLast()) end()
    }

    /** Whether no member has had anything of the document since this one. */
    private fun isLast() = known != null && state?.isUnused == true

    /** Removes the document, unless another member has used it meanwhile. */
    private suspend fun end() {
        val last = known ?: return
        val end = EndedState(state?.fence() ?: return)
        known = null
        val ended = StoredDocument(last.version() + 1, end.toText())
        if (cluster.calls.call { compareAndSet(key, last.version(), ended, emptyList()) }.isStored) {
            cluster.names.remove(key, ended, end)
        }
    }

    /** True once the document says what it should. */
    private suspend fun drive(member: Member): Boolean {
        var races = 0
        while (cluster.current === member) {
            val before = load(member) ?: continue
            if (underWay.get() > 0) return true // a signal follows
            val write = nextWrite(before, member)
            waitFor(write?.step?.state ?: before, member)
            if (write == null) {
                declared = null // the document says it
                answer(null)
                return true
            }
            val step = write.step
            val expected = known?.version() ?: 0
            val version = if (expected == 0L) cluster.calls.call { now() } else expected + 1
            val next = StoredDocument(version, step.state.toText())
            val answer = cluster.calls.call { compareAndSet(key, expected, next, step.rung) }
            if (answer.isStored) {
                if (expected == 0L && !proves(step.state, member)) return false
                isSettled = true
                if (declared == step.state.permits()) declared = null
                if (!isClosed) holdings.isGivingBack = false
                adopt(next, step.state, member, write)
            } else {
                if (++races > FREE_RACES) cluster.calls.pauseAfterRace(races)
                val current = answer.current().orElse(null)
                val seen = current?.takeIf { endOf(it) == null }?.let { parse(it) }
                if (seen == null || seen.born() != provenBorn) known = null else adopt(current, seen, member)
            }
        }
        return false
    }

    private fun isIdle(): Boolean {
        val isResizing = declared != null && !isOpening
        return isSettled && !holdings.hasAny && pool.demand == 0 && asked.isEmpty() && !isResizing && !isQueued()
    }

    private fun isQueued(): Boolean {
        val member = cluster.current ?: return false
        return (state?.wanted(member.id) ?: 0) > 0
    }

    /** Whether a document that was begun by another member is of this store's epoch. */
    private suspend fun proves(seen: LockState, member: Member): Boolean {
        if (seen.born() == provenBorn) return true
        if (!cluster.isSameEpoch(member)) return false
        provenBorn = seen.born()
        return true
    }

    private fun parse(document: StoredDocument) = parsed(key, document) { LockState.parse(it) }

    private fun endOf(document: StoredDocument) = parsed(key, document) { EndedState.parse(it) }

    /** The document as it is, or as this member would begin it. Null if another look is needed. */
    private suspend fun load(member: Member): LockState? {
        val seen = state
        if (known != null && !isStale && seen != null) return seen
        isStale = false
        val document = cluster.calls.call { read(key) }.orElse(null)
        val end = document?.let { endOf(it) }
        if (document != null && end != null) {
            if (holdings.hasAny) loseLock("another member has ended it")
            known = null
            cluster.names.remove(key, document, end)
            return null
        }
        if (document != null) {
            val read = parse(document)
            if (!proves(read, member)) return null
            adopt(document, read, member)
            return read
        }
        if (holdings.hasAny) loseLock("its document has vanished from ${cluster.calls.store}")
        known = null
        val registration = cluster.names.register(key)
        if (!registration.isNew && !cluster.epoch.restOf(key)) {
            cluster.isSameEpoch(member) // if not, that was the reason
            return null
        }
        val fence = maxOf(cluster.calls.call { now() } * NANOS_PER_MICRO, registration.fence)
        return LockState.create(pool.permits, fence).also { state = it }
    }

    /** A write of the document, and what it returns. */
    private class Write(val step: LockRules.Step, val plan: Holdings.Plan)

    /** The next write of the document; null if it says what it should. */
    private fun nextWrite(seen: LockState, member: Member): Write? {
        val plan = holdings.plan(seen, member)
        val evicted = seen.others(member.id).keys.filterTo(HashSet()) { cluster.isDead(it) }
        val resized = declared?.takeIf { it != seen.permits() }
        val isSaid = plan.kept == seen.held(member.id) && plan.want == seen.wanted(member.id) && !plan.renews
        if (isSaid && evicted.isEmpty() && resized == null && isSettled && (known != null || plan.want == 0))
            return null
        val rung = LinkedHashSet<String>()
        var next = seen
        if (resized != null) {
            if (isOpening && known != null) warn("was opened with $resized permits, and has had ${seen.permits()}")
            next = LockRules.resize(next, resized).also { rung += it.rung }.state
        }
        if (evicted.isNotEmpty()) next = LockRules.evict(next, evicted).also { rung += it.rung }.state
        val wish = LockRules.Wish(member.id, cluster.leaseMillis, plan.kept, plan.want, plan.renews)
        next = LockRules.apply(next, wish).also { rung += it.rung }.state
        return Write(LockRules.Step(next, rung - member.id), plan)
    }

    /** The document says [seen], by this member's own [write] or by another one. */
    private fun adopt(document: StoredDocument, seen: LockState, member: Member, write: Write? = null) {
        known = document
        state = seen
        unusedBeats = 0
        if (seen.permits() != pool.permits) {
            if (declared == null && write == null) warn("has ${seen.permits()} permits now, and had ${pool.permits}")
            holdings.resize(seen.permits())
        }
        isOpening = false
        val orphans = holdings.forgetOthers(member)
        if (orphans.isNotEmpty()) tellAndSettle(orphans, "the membership of ${cluster.label} was lost")
        val granted = holdings.adopt(seen, member, write?.plan, isSettled)
        if (granted < 0) loseLock("its document in ${cluster.calls.store} was changed by another hand")
        else if (granted > 0) deliver(granted)
    }

    private fun deliver(permits: Int) {
        if (!cluster.hasOwnThread) return pool.bring(permits)
        underWay.incrementAndGet()
        cluster.callOut {
            pool.bring(permits)
            underWay.decrementAndGet()
            signal()
        }
    }

    private fun warn(what: String) {
        val warning = IllegalStateException("$label $what: its members name different numbers")
        cluster.observer?.warned(warning) ?: Trampoline.report(warning)
    }

    private fun waitFor(seen: LockState, member: Member) {
        val isWaiting = seen.wanted(member.id) > 0
        cluster.watches.watch(key, if (isWaiting) seen.others(member.id) else emptyMap()) { rung() }
    }

    private fun answer(failure: Throwable?) {
        val all = asked.toList()
        asked.clear()
        for (seen in all) cluster.callOut { seen(failure) }
    }

    // ---- the end

    override fun shutDown() {
        isClosed = true
        pool.close(IllegalStateException("${cluster.label} is closed"))
        holdings.isGivingBack = true
        signal()
    }

    override suspend fun awaitEnd() {
        cluster.decide { while (signals.get() > 0 || !isIdle()) cluster.calls.sleep(END_POLL) }
    }

    private companion object {
        val END_POLL = 10.milliseconds
        const val FREE_RACES = 2

        /** Six leases: the document of a lock that is used once a minute stays. */
        const val LAST_BEATS = 18
        const val NANOS_PER_MICRO = 1_000L
    }
}
