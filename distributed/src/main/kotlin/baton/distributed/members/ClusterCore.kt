package baton.distributed.members

import baton.BatonClock
import baton.distributed.CoordinationStore
import baton.distributed.StoredDocument
import baton.distributed.bridge.ClusterObserver
import baton.distributed.rules.MemberState
import baton.distributed.threads.OneThread
import baton.monitoring.Usage
import baton.waiting.clock.BoundClock
import baton.waiting.threads.HandOverExecutor
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
    val observer: ClusterObserver? = null,
) {
    val label = if (name == null) "Cluster" else "Cluster '$name'"
    val clock = BoundClock(givenClock, context)
    val leaseMillis = lease.inWholeMilliseconds

    /** Whether the decisions have a thread of their own. Then wake-ups of callers leave it, see [callOut]. */
    val hasOwnThread = givenClock == null && context[ContinuationInterceptor] == null
    private val dispatcher: CoroutineContext =
        if (hasOwnThread) OneThread.executor("baton-cluster-${name ?: "unnamed"}").asCoroutineDispatcher()
        else oneAtATime(context[ContinuationInterceptor])

    private val scope = CoroutineScope(context + SupervisorJob(context[Job]) + dispatcher)
    val calls = StoreCalls(store, label, clock, random, lease / 3)
    private val store
        get() = calls.store

    val watches = Watches(this)
    val names = Names(this)
    private val locks = Locks()
    private val joining = Mutex()
    private val formerIds: MutableSet<String> = ConcurrentHashMap.newKeySet()

    /** Null before the first use, and after a loss until the next use. */
    @Volatile
    var current: Member? = null
        private set

    val epoch = Epoch(this, random)
    private var beating: Job? = null
    private var polling: Job? = null

    @Volatile
    var isClosed = false
        private set

    /** Whether a shutdown waits until the locks have given everything back. */
    @Volatile
    var isAwaitingLocks = false
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

    fun keyOf(kind: String) = "$namespace:$kind"

    fun launch(step: suspend () -> Unit): Job = scope.launch { step() }

    /** Runs [step] among the decisions, as a part of the caller. */
    suspend fun decide(step: suspend () -> Unit): Unit = withContext(dispatcher) { step() }

    /** The part of this cluster that deals with a lock, made at its first use. */
    fun lock(key: String, create: () -> ClusterLock): ClusterLock {
        check(!isClosed) { "$label is closed" }
        return locks.get(key, create)
    }

    /** The lock has something to do. Until [rests] the cluster keeps it, and tells it of heartbeats and losses. */
    fun works(lock: ClusterLock) = locks.works(lock)

    /** The lock has nothing in its document, and no caller. */
    fun rests(lock: ClusterLock) = locks.rests(lock)

    /** Runs what may resume callers in place, and must not stop the heartbeats. */
    fun callOut(work: Runnable) {
        if (!hasOwnThread) return work.run()
        try {
            HandOverExecutor.execute(work)
        } catch (e: Throwable) { // the system has no thread left
            Trampoline.report(e)
            Trampoline.guarded { work.run() }
        }
    }

    // ---- membership

    /** The member, which has joined and may be granted permits. Throws the failure of the store. */
    suspend fun member(): Member {
        while (true) {
            current?.let { if (epoch.isRested) return it }
            joining.withLock { if (current == null || !epoch.isRested) join() }
        }
    }

    private suspend fun join() {
        epoch.adopt()
        if (current == null) begin()
        epoch.rest()
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
        pollIfDeaf()
        if (beating?.isActive == true) return
        beating = launch { beat() }
        launch { expire() }
    }

    private fun confirmed(member: Member, version: Long, sent: Long, wall: Long) {
        member.version = version
        member.confirmedAt = sent
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
        for (lock in locks.working()) lock.lose(member, why)
        launch { forget(member) }
    }

    /** The document of a former life would stay for ever if no other member waited for what it had. */
    private suspend fun forget(member: Member) {
        member.bell.close()
        while (true) {
            try {
                val left = calls.call { read(member.key) }.orElse(null) ?: return
                if (calls.call { delete(member.key, left.version()) }) return
            } catch (e: Throwable) {
                if (!e.isOfStore) throw e
                calls.awaitTry()
            }
        }
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
                    for (lock in locks.working()) lock.tick()
                    pollIfDeaf()
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

    private fun pollIfDeaf() {
        if (!store.ringsEveryBell() && polling?.isActive != true) polling = launch { poll() }
    }

    /** Looks once more after the bell was heard again: a ring may have been missed. */
    private suspend fun poll() {
        do {
            calls.sleep(lease / POLLS)
            val isHeard = store.ringsEveryBell()
            for (lock in locks.working()) lock.poll()
        } while (!isHeard)
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
        if (!isSameEpoch(member)) return
        if (!answer.isStored) return beatOnce(member)
        for (gone in epoch.gone) {
            val isThere = locks[gone.key()]?.verify() ?: continue
            // The mark of a member that is dead, or of one that came between the registration and the first document.
            if (isThere) epoch.unmark(gone)
        }
        confirmed(member, member.version, sent, wall)
    }

    fun usage(): Usage {
        val age = current?.let { clock.read() - it.confirmedAt } ?: 0
        return Usage(age.nanoseconds.inWholeMilliseconds.coerceAtLeast(0), leaseMillis)
    }

    /** Whether the store still has the documents that it had when [member] joined. If not, that is lost. */
    suspend fun isSameEpoch(member: Member): Boolean {
        if (epoch.isSame()) return true
        lose(member, "$store has lost its documents")
        return false
    }

    // ---- the end

    /** Refuses all that comes, gives back what is kept, and waits until nothing is held. */
    suspend fun shutdown() {
        isClosed = true
        isAwaitingLocks = true
        for (lock in locks.all()) lock.shutDown()
        for (lock in locks.working()) lock.awaitEnd()
        end("$label was shut down")
    }

    /** Loses all leases. The store hears nothing of it: other members get the permits after a lease. */
    fun close() {
        isClosed = true
        for (lock in locks.all()) lock.shutDown()
        end("$label was closed")
    }

    private fun end(why: String) {
        isAwaitingLocks = false
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

    fun lockTexts(): List<String> = locks.all().map { it.toString() }.sorted()

    override fun toString(): String {
        val state = if (isClosed) "closed" else if (current == null) "not joined" else "joined"
        return "$label ($state, lease = $lease, locks = ${locks.size}, $store)"
    }

    private companion object {
        const val BEATS = 3
        const val POLLS = 10
        const val SHARES = 8
        const val ID_WORDS = 2
        const val ID_RADIX = 36
    }
}
