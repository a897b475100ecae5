package baton.distributed.members

import baton.BatonClock
import baton.distributed.CoordinationStore
import baton.distributed.StoredDocument
import baton.distributed.rules.EpochState
import baton.distributed.rules.MemberState
import baton.distributed.rules.NamesState
import baton.distributed.threads.OneThread
import baton.waiting.clock.BoundClock
import baton.waiting.threads.LimitedViews
import baton.waiting.threads.Trampoline
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext

/*
 * How it works
 *
 *   ClusterCore   one Member at a time: its document is written again every third of a lease
 *   LockClient    one for each lock: a local queue of callers, and the place of this member in the lock's document
 *   Watches       the counters of members for which this one waits
 *
 * 1. All decisions run one at a time, on the dispatcher of the cluster: by default a thread of its own, so that a full
 *    dispatcher of the application loses no lease. What a caller does at once (a lease of a permit that is kept, its
 *    release, a check) needs the lock of its LockClient alone.
 * 2. A lease is good until the deadline of the member: seven eighths of a lease after the last heartbeat that the store
 *    has confirmed was sent. A watcher calls a member dead once its counter has stood still for a whole lease after the
 *    watcher saw it, and then removes its document, by which the next heartbeat of the member must fail. Only then it
 *    takes the permits. So two holders at a time need two clocks whose speeds differ by more than an eighth.
 * 3. A heartbeat also reads the epoch. If that is another one, or gone, the store has lost what it had: all leases are
 *    lost, and no lock is granted until the new epoch is a lease old.
 */
internal class ClusterCore(
    store: CoordinationStore,
    val lease: Duration,
    val name: String?,
    private val namespace: String,
    givenClock: BatonClock?,
    context: CoroutineContext,
    private val random: Random,
) {
    val label = if (name == null) "Cluster" else "Cluster '$name'"
    val clock = BoundClock(givenClock, context)
    val leaseMillis = lease.inWholeMilliseconds

    /** Whether the decisions have a thread of their own. Then wake-ups of callers leave it. */
    val hasOwnThread = givenClock == null && context[ContinuationInterceptor] == null
    private val dispatcher: CoroutineContext =
        if (hasOwnThread) OneThread.executor("baton-cluster-${name ?: "unnamed"}").asCoroutineDispatcher()
        else oneAtATime(context[ContinuationInterceptor])

    private val scope = CoroutineScope(context + SupervisorJob(context[Job]) + dispatcher)
    val calls = StoreCalls(store, label, clock, random, lease / 3)
    val watches = Watches(this)
    private val locks = ConcurrentHashMap<String, ClusterLock>()
    private val joining = Mutex()
    private val formerIds: MutableSet<String> = ConcurrentHashMap.newKeySet()

    /** Null before the first use, and after a loss until the next use. */
    @Volatile
    var current: Member? = null
        private set

    private var epoch: EpochState? = null
    private var mayBeNew = true
    private var beating: Job? = null

    @Volatile
    var isClosed = false
        private set

    init {
        // The user's job may end it, too. The waiters must not outlast it.
        scope.coroutineContext.job.invokeOnCompletion { if (!isClosed) close() }
    }

    private fun oneAtATime(interceptor: ContinuationInterceptor?): CoroutineContext =
        if (interceptor is CoroutineDispatcher && interceptor !== Dispatchers.Unconfined) {
            LimitedViews.of(interceptor, 1)
        } else {
            LimitedViews.of(Dispatchers.Default, 1)
        }

    fun keyOf(kind: String, name: String) = "$namespace:$kind:$name"

    fun launch(step: suspend () -> Unit): Job = scope.launch { step() }

    /** Runs [step] among the decisions, as a part of the caller. */
    suspend fun decide(step: suspend () -> Unit): Unit = withContext(dispatcher) { step() }

    /** The part of this cluster that deals with a lock, made at its first use. */
    fun lock(key: String, create: () -> ClusterLock): ClusterLock {
        check(!isClosed) { "$label is closed" }
        return locks.computeIfAbsent(key) { create() }
    }

    // ---- membership

    /** The member, which has joined and may be granted permits. Throws the failure of the store. */
    suspend fun member(): Member {
        while (true) {
            current?.let { if (epoch?.isRested == true) return it }
            joining.withLock { if (current == null || epoch?.isRested != true) join() }
        }
    }

    private suspend fun join() {
        val seen = readEpoch() ?: createEpoch()
        mayBeNew = false
        epoch = seen
        if (current == null) begin()
        if (!seen.isRested) rest(seen)
    }

    private suspend fun begin() {
        val id = List(ID_WORDS) { random.nextLong().toULong().toString(ID_RADIX) }.joinToString("")
        val member = Member(id, keyOf("member", id), MemberState(name ?: "", leaseMillis, 1), version = 0)
        val version = calls.call { now() }
        val sent = clock.read()
        val wall = clock.instant().toEpochMilli()
        val answer =
            calls.call { compareAndSet(member.key, 0, StoredDocument(version, member.state.toText()), emptyList()) }
        check(answer.isStored) { "$label: a random id is in use" }
        confirmed(member, version, sent, wall)
        member.bell = calls.store.listen(id) { key -> locks[key]?.rung() }
        current = member
        if (beating?.isActive == true) return
        beating = launch { beat() }
        launch { expire() }
        if (!store.ringsEveryBell()) launch { poll() }
    }

    private fun confirmed(member: Member, version: Long, sent: Long, wall: Long) {
        member.version = version
        member.deadline = sent + lease.inWholeNanoseconds / SHARES * (SHARES - 1)
        member.wallDeadline = wall + leaseMillis / SHARES * (SHARES - 1) + leaseMillis / BEATS
    }

    /** Whether the leases of [member] are over by the clocks. Then they are lost. */
    fun isOver(member: Member): Boolean {
        if (member.loss != null) return true
        if (clock.read() < member.deadline) return false
        lose(member, "no heartbeat of this member was confirmed for seven eighths of its lease of $lease")
        return true
    }

    /**
     * Whether the wall clock says that more time has passed than the monotonic one does: this may have been suspended.
     */
    fun isDoubtful(member: Member): Boolean = clock.instant().toEpochMilli() >= member.wallDeadline

    fun lose(member: Member, why: String) {
        if (!member.tryLose(why)) return
        formerIds += member.id
        if (current === member) current = null
        for (lock in locks.values) lock.lose(member, why)
        launch { member.bell.close() }
    }

    /** Whether nothing that the member [id] had is in use. */
    fun isDead(id: String) = id in formerIds || watches.isDead(id)

    private suspend fun beat() {
        var pause = lease / BEATS
        var isReported = false
        while (true) {
            calls.sleep(pause)
            val member = current ?: continue
            pause =
                try {
                    if (!isOver(member)) beatOnce(member)
                    for (lock in locks.values) lock.tick()
                    isReported = false
                    lease / BEATS
                } catch (e: Throwable) {
                    currentCoroutineContext().ensureActive()
                    if (!e.isOfStore && !isReported) {
                        isReported = true
                        Trampoline.report(IllegalStateException("$label: a heartbeat has failed, and is repeated", e))
                    }
                    lease / BEATS / BEATS
                }
        }
    }

    /** Loses what is over at its time, whatever the heartbeat waits for. */
    private suspend fun expire() {
        while (true) {
            val member = current
            calls.sleep(if (member == null) lease / BEATS else (member.deadline - clock.read()).nanoseconds)
            if (member != null && current === member) isOver(member)
        }
    }

    private suspend fun poll() {
        while (true) {
            calls.sleep(lease / POLLS)
            for (lock in locks.values) lock.poll()
        }
    }

    private suspend fun beatOnce(member: Member) {
        val sent = clock.read()
        val wall = clock.instant().toEpochMilli()
        val next = member.state.next()
        val text = next.toText()
        val answer =
            calls.call {
                compareAndSet(member.key, member.version, StoredDocument(member.version + 1, text), emptyList())
            }
        val found = answer.current().orElse(null)
        when {
            answer.isStored -> {}
            // An earlier try of this very heartbeat, whose answer did not arrive.
            found?.version() == member.version + 1 && found.text() == text -> {}
            else -> return lose(member, "the document of this member was changed or removed in $store")
        }
        member.state = next
        member.version += 1
        val seen = readEpoch()
        if (seen == null || seen.id != epoch?.id) {
            epoch = null
            return lose(member, "$store has lost its documents")
        }
        if (!answer.isStored) return beatOnce(member)
        epoch = seen
        for (gone in seen.gone) {
            val isThere = locks[gone.key()]?.verify() ?: continue
            // The mark of a member that is dead, or of one that came between the registration and the first document.
            if (isThere) changeEpoch(seen.id) { it.unmarked(gone.key(), gone.mark()) }
        }
        confirmed(member, member.version, sent, wall)
    }

    // ---- the epoch

    private val epochKey = "$namespace:epoch"
    private val store
        get() = calls.store

    private suspend fun readEpoch(): EpochState? {
        val document = calls.call { read(epochKey) }.orElse(null) ?: return null
        return parsed(epochKey, document) { EpochState.parse(it) }
    }

    private suspend fun createEpoch(): EpochState {
        val id = random.nextLong().toULong().toString(ID_RADIX)
        // A store that was new has lost its documents if its epoch is missing once more.
        val created = EpochState(id, mayBeNew && store.isKnownNew, emptyList())
        val version = calls.call { now() }
        calls.call { compareAndSet(epochKey, 0, StoredDocument(version, created.toText()), emptyList()) }
        return checkNotNull(readEpoch()) { "$store has lost the document $epochKey" }
    }

    private suspend fun changeEpoch(id: String, change: (EpochState) -> EpochState): EpochState? {
        while (true) {
            val document = calls.call { read(epochKey) }.orElse(null) ?: return null
            val before = parsed(epochKey, document) { EpochState.parse(it) }
            if (before.id != id) return null
            val after = change(before)
            if (after == before) return before
            val next = StoredDocument(document.version() + 1, after.toText())
            if (calls.call { compareAndSet(epochKey, document.version(), next, emptyList()) }.isStored) return after
        }
    }

    /** Nothing is granted until the store has kept its documents for a lease, by the clock of this member. */
    private suspend fun rest(seen: EpochState) {
        val end = clock.read() + restTime()
        while (clock.read() < end) {
            calls.sleep(minOf((end - clock.read()).nanoseconds, lease / BEATS))
            val now = readEpoch()
            if (now == null || now.id != seen.id) return
            epoch = now
            if (now.isRested) return
        }
        epoch = changeEpoch(seen.id) { it.rested() }
    }

    private fun restTime() = lease.inWholeNanoseconds / REST_TENTHS * (REST_TENTHS + 1)

    /**
     * The document [key] has vanished, or the first user of the lock is about to create it. Its holders look for it at
     * their next heartbeat, because the epoch marks it. Waits for a lease, in which each of them has looked or is over.
     * True if the caller may create the document now: it has removed the mark that it has seen at the beginning. So no
     * other member has created the document since, of which a second loss would be taken for the first.
     */
    suspend fun restOf(key: String): Boolean {
        val id = epoch?.id ?: return false
        val mark = random.nextLong().toULong().toString(ID_RADIX)
        val seen = changeEpoch(id) { it.marked(key, mark) }?.markOf(key) ?: return false
        val end = clock.read() + restTime()
        while (true) {
            if (calls.call { read(key) }.isPresent) {
                changeEpoch(id) { it.unmarked(key, mark) }
                return false
            }
            val left = end - clock.read()
            if (left <= 0) break
            calls.sleep(minOf(left.nanoseconds, lease / POLLS))
        }
        var isMine = false
        changeEpoch(id) {
            isMine = it.markOf(key) == seen
            it.unmarked(key, seen)
        }
        return isMine
    }

    /** Whether the lock [key] has never been used. From now on it has. */
    suspend fun register(key: String): Boolean {
        val namesKey = keyOf("names", NamesState.indexOf(key).toString())
        while (true) {
            val document = calls.call { read(namesKey) }.orElse(null)
            val names =
                document?.let { parsed(namesKey, it) { text -> NamesState.parse(text) } } ?: NamesState(emptyList())
            if (key in names.keys()) return false
            val expected = document?.version() ?: 0
            val version = if (expected == 0L) calls.call { now() } else expected + 1
            val next = StoredDocument(version, names.with(key).toText())
            if (calls.call { compareAndSet(namesKey, expected, next, emptyList()) }.isStored) return true
        }
    }

    /** Whether the store still has the documents that it had when [member] joined. If not, that is lost. */
    suspend fun isSameEpoch(member: Member): Boolean {
        val id = epoch?.id
        val seen = readEpoch()
        if (seen != null && seen.id == id) return true
        epoch = null
        lose(member, "$store has lost its documents")
        return false
    }

    // ---- the end

    /** Refuses all that comes, gives back what is kept, and waits until nothing is held. */
    suspend fun shutdown() {
        isClosed = true
        for (lock in locks.values) lock.shutDown()
        for (lock in locks.values) lock.awaitEnd()
        end("$label was shut down")
    }

    /** Loses all leases. The store hears nothing of it: other members get the permits after a lease. */
    fun close() {
        isClosed = true
        for (lock in locks.values) lock.shutDown()
        end("$label was closed")
    }

    private fun end(why: String) {
        val member = current
        if (member != null) lose(member, why)
        scope.coroutineContext.job.cancel(null)
        if (member == null) return
        try {
            member.bell.close()
            store.delete(member.key, member.version)
        } catch (e: Throwable) {
            Trampoline.report(e)
        }
    }

    override fun toString(): String {
        val state = if (isClosed) "closed" else if (current == null) "not joined" else "joined"
        return "$label ($state, lease = $lease, locks = ${locks.size}, $store)"
    }

    private companion object {
        const val BEATS = 3
        const val POLLS = 10
        const val SHARES = 8
        const val REST_TENTHS = 10
        const val ID_WORDS = 2
        const val ID_RADIX = 36
    }
}
