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
import baton.distributed.rules.SharedState
import baton.monitoring.Monitored
import baton.waiting.threads.Trampoline
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds

/**
 * The part of a cluster that deals with one document of a lock or a limiter. Its callers wait in a local queue, the
 * [pool]. One coroutine at a time, [drive], makes the document say what the queue needs, and takes from it what was
 * granted.
 *
 * A write whose answer was lost may happen until another one has been stored. Until then the document is not settled:
 * it is written also if it says what it should, and nothing that it grants is used.
 */
internal abstract class DocumentClient<S : SharedState>(
    protected val cluster: ClusterCore,
    kind: String,
    final override val name: String,
) : ClusterLock, Monitored {
    final override val key: String = cluster.keyOf(kind, name)
    protected val title = kind.replaceFirstChar { it.uppercase() }
    val label: String
        get() = "$title '$name' of ${cluster.label}"

    abstract val pool: PermitPool

    @Volatile
    var isClosed = false
        private set

    // Confined to the dispatcher of the cluster.
    protected var known: StoredDocument? = null
        private set

    /** The document, as this member has seen it last. */
    @Volatile
    var state: S? = null
        private set

    @Volatile
    protected var isSettled = true
        private set

    /** Whether this has not looked at the document, or has not written it since. */
    protected var isOpening = true
        private set

    private var hasWarned = false

    /** Heartbeats since this member has seen anything new. */
    private var unusedBeats = 0

    private val asked = ArrayList<(Throwable?) -> Unit>()

    @Volatile private var isStale = true
    private val signals = AtomicInteger()

    /** Permits that were granted, and that another thread is about to bring into the pool. */
    private val underWay = AtomicInteger()

    /** The mark of the document of which the epoch was read after it: it is no remnant of a store that was emptied. */
    private var provenBorn = 0L

    /** A write of the document, and the members that it rings. */
    protected open class Write<S>(val state: S, val rung: Set<String>)

    // ---- of the kind

    /** Whether the document gives anything to this member. */
    protected abstract val hasAny: Boolean

    /** Whether the document is to say something else although no caller waits. */
    protected abstract val isChanging: Boolean

    protected abstract fun parse(text: String): S

    /** The first document, with tokens above [fence]; [isNew] if the store knows of no earlier one. */
    protected abstract suspend fun create(isNew: Boolean, fence: Long): S

    /** Whether [last], which no member uses, may be removed. */
    protected open fun mayEnd(last: S): Boolean = true

    /** All that this member has is over. Returns the leases that are lost by it. */
    protected abstract fun forget(): List<Lease>

    /** As [forget], if this member has it by [member]; else null. */
    protected abstract fun forgetOf(member: Member): List<Lease>?

    /** As [forget], of what this member has by another one than [member]. */
    protected abstract fun forgetOthers(member: Member): List<Lease>

    /** The next write of the document; null if it says what it should. */
    protected abstract suspend fun nextWrite(seen: S, member: Member): Write<S>?

    /**
     * Takes [seen], by this member's own [write] or by another one. Returns what is granted; below 0 if some is gone.
     */
    protected abstract fun take(seen: S, member: Member, write: Write<S>?): Int

    /** Everything that is not in use goes back. */
    protected abstract fun giveBack()

    /** The document says what it should; or not, but only another member or time can change that. */
    protected open fun rested(seen: S, member: Member) {}

    /** The members for which this one waits, with their leases in milliseconds. */
    protected open fun watched(seen: S, member: Member): Map<String, Long> =
        if (seen.isQueued(member.id)) seen.others(member.id) else emptyMap()

    // ---- callers

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

    // ---- losses

    override fun lose(member: Member, why: String) {
        val lost = forgetOf(member) ?: return
        isSettled = false
        tellAndSettle(lost, why)
    }

    override suspend fun verify(): Boolean? {
        if (!hasAny) return null
        val isThere = cluster.calls.call { read(key) }.isPresent
        if (!isThere) loseLock("its document has vanished from ${cluster.calls.store}")
        return isThere
    }

    /** The leases of this lock are lost. Called on the dispatcher of the cluster. */
    private fun loseLock(why: String) {
        val lost = forget()
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

    /** After a heartbeat in which this had nothing, and did not wait. */
    protected fun beatUnused() {
        unusedBeats++
        if (unusedBeats >= LAST_BEATS) signal()
    }

    override fun poll() {
        if (hasAny || pool.demand > 0) rung()
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
                    tell(forget(), "$label is closed, and its document cannot be read: $e")
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
        val last = state
        if (unusedBeats >= LAST_BEATS && isIdle() && isLast() && last != null && mayEnd(last)) end(last)
    }

    /** Whether no member has had anything of the document since this one. */
    private fun isLast() = known != null && state?.isUnused == true

    /** Removes the document, unless another member has used it meanwhile. */
    private suspend fun end(seen: S) {
        val last = known ?: return
        val end = EndedState(seen.fence())
        known = null
        val ended = StoredDocument(last.version() + 1, end.toText())
        if (cluster.calls.call { compareAndSet(key, last.version(), ended, emptyList()) }.isStored) {
            provenBorn = 0
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
            waitFor(write?.state ?: before, member)
            if (write == null) {
                isOpening = false
                answer(null)
                rested(before, member)
                return true
            }
            val expected = known?.version() ?: 0
            val version = if (expected == 0L) cluster.calls.call { now() } else expected + 1
            val next = StoredDocument(version, write.state.toText())
            val answer = cluster.calls.call { compareAndSet(key, expected, next, write.rung) }
            if (answer.isStored) {
                if (expected == 0L && !proves(write.state, member)) return false
                isSettled = true
                adopt(next, write.state, member, write)
            } else {
                if (++races > FREE_RACES) cluster.calls.pauseAfterRace(races)
                val current = answer.current().orElse(null)
                val seen = current?.takeIf { endOf(it) == null }?.let { parse(it) }
                if (seen == null || seen.born() != provenBorn) known = null else adopt(current, seen, member)
            }
        }
        return false
    }

    private fun isIdle(): Boolean =
        isSettled && !hasAny && pool.demand == 0 && asked.isEmpty() && !isChanging && !isQueued()

    private fun isQueued(): Boolean {
        val member = cluster.current ?: return false
        return state?.isQueued(member.id) == true
    }

    /** Whether a document that was begun by another member is of this store's epoch. */
    private suspend fun proves(seen: S, member: Member): Boolean {
        if (seen.born() == provenBorn) return true
        if (!cluster.isSameEpoch(member)) return false
        provenBorn = seen.born()
        return true
    }

    private fun parse(document: StoredDocument) = parsed(key, document) { parse(it) }

    private fun endOf(document: StoredDocument) = parsed(key, document) { EndedState.parse(it) }

    /** The document as it is, or as this member would begin it. Null if another look is needed. */
    private suspend fun load(member: Member): S? {
        val seen = state
        if (known != null && !isStale && seen != null) return seen
        isStale = false
        val document = cluster.calls.call { read(key) }.orElse(null)
        val end = document?.let { endOf(it) }
        if (document != null && end != null) {
            if (hasAny) loseLock("another member has ended it")
            known = null
            provenBorn = 0
            cluster.names.remove(key, document, end)
            return null
        }
        if (document != null) {
            val read = parse(document)
            if (!proves(read, member)) return null
            adopt(document, read, member)
            return read
        }
        if (hasAny) loseLock("its document has vanished from ${cluster.calls.store}")
        known = null
        val registration = cluster.names.register(key)
        if (!registration.isNew && !cluster.epoch.restOf(key)) {
            cluster.isSameEpoch(member) // if not, that was the reason
            return null
        }
        return create(registration.isNew && provenBorn == 0L, registration.fence).also { state = it }
    }

    /** The document says [seen], by this member's own [write] or by another one. */
    private fun adopt(document: StoredDocument, seen: S, member: Member, write: Write<S>? = null) {
        known = document
        state = seen
        unusedBeats = 0
        val orphans = forgetOthers(member)
        if (orphans.isNotEmpty()) tellAndSettle(orphans, "the membership of ${cluster.label} was lost")
        val granted = take(seen, member, write)
        if (write != null) isOpening = false
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

    protected fun warn(what: String) {
        val warning = IllegalStateException("$label $what: its members name different numbers")
        cluster.observer?.warned(warning) ?: Trampoline.report(warning)
    }

    /** As [warn], unless a race has this called again. */
    protected fun warnOnce(what: String) {
        if (!hasWarned) warn(what)
        hasWarned = true
    }

    private fun waitFor(seen: S, member: Member) {
        cluster.watches.watch(key, watched(seen, member)) { rung() }
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
        giveBack()
        signal()
    }

    override suspend fun awaitEnd() {
        cluster.decide { while (signals.get() > 0 || !isIdle()) cluster.calls.sleep(END_POLL) }
    }

    protected companion object {
        private val END_POLL = 10.milliseconds
        private const val FREE_RACES = 2

        /** Six leases: the document of a lock that is used once a minute stays. */
        private const val LAST_BEATS = 18
        const val NANOS_PER_MICRO = 1_000L
    }
}
