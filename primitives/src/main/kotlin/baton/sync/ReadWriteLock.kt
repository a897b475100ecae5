package baton.sync

import baton.Boosting
import baton.sync.ReadWriteState.Outcome
import baton.waiting.boost.BoostableHolder
import baton.waiting.boost.Boosts
import baton.waiting.boost.ifLiftable
import baton.waiting.boost.liftable
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.SelectInstance

/**
 * A lock for coroutines that many may hold to read, or one alone to write.
 *
 * Use it where reads are frequent and suspend; where they are short and do not, a [Mutex] or an immutable snapshot in
 * an `AtomicReference` is simpler and often faster.
 *
 * *Waiting.* [lockRead], [lockWrite], [lockUpgradable] and [upgrade] suspend until the lock is handed over; their try
 * forms never wait, or for a limited time.
 *
 * *Order.* That of the [policy], for coroutines, `select` clauses and the futures of the Java face alike: writers and
 * upgradable readers are served first come, first served; readers that wait are let in together.
 *
 * *Upgrading.* One of the readers at a time may be upgradable: it reads beside the others, and only it may [upgrade],
 * which waits until they have left. [downgrade] turns writing into reading. In neither is there a moment at which
 * another writer could slip in.
 *
 * *Cancellation.* Prompt: whoever is cancelled while it waits, or after the hand-over but before it runs, throws and
 * holds nothing more than before. A writer that gives up lets in at once the readers it held back. A call that need not
 * wait does not look for cancellation.
 *
 * *Memory.* What happens before an [unlockWrite] or [downgrade] happens before whatever follows the next lock of any
 * kind; what happens before an [unlockRead] happens before whatever follows the next lock to write, or [upgrade].
 *
 * *Owners.* An owner is any object that stands for the holder, compared by identity; only it can unlock what was locked
 * with it. Owners make waiting for oneself an error instead of a silent hang: to write while reading or writing, to
 * upgrade while reading plainly as well, to read again behind a writer that waits for this very reader to leave, and to
 * wait for reading upgradably while reading plainly, throw [IllegalStateException] with the names of both. (Reading
 * again is allowed where it need not wait.) Without owners none of this is noticed. While an owner is inside, or
 * somebody waits, all calls take a lock inside; otherwise one atomic operation each.
 *
 * *Boosting.* While somebody waits who is more urgent, those inside are lifted, as the holder of a [Mutex] is (see
 * [Boosting]): who writes or reads upgradably, and readers that came by [withRead] or gave an owner. Of other readers
 * it is not known which of them ends when one does, so they are not lifted; nor is a writer after a [downgrade]
 * without an owner.
 *
 * *Misuse.* Unlocking, upgrading or downgrading what the caller does not hold in that way throws
 * [IllegalStateException] and changes nothing. Whether a caller without an owner is among the holders is not checked.
 *
 * All members may be called from any thread; the lock is not bound to threads or coroutines.
 *
 * @property policy who goes first where readers and writers wait.
 * @property name shown by messages and [toString].
 */
public class ReadWriteLock(
    public val policy: ReadWritePolicy = ReadWritePolicy.PHASE_FAIR,
    public val name: String? = null,
) {
    internal val core: ReadWriteCore = ReadWriteCore(policy, ::toString)

    /** How many read, the upgradable one included. */
    public val readers: Int get() = core.readersInside

    /** Whether somebody writes. */
    public val isWriteLocked: Boolean get() = core.isWritten

    /** The owner that writes; null when nobody does, or without an owner. */
    public val writeHolder: Any? get() = core.writeHolder

    /** The owners that read, in no particular order, each once; those without an owner are not among them. */
    public val readHolders: List<Any> get() = core.readHolders

    /** How many wait, to read, to write or to upgrade. */
    public val waiting: Int get() = core.waiting

    /**
     * Waits until the caller may read.
     *
     * *Cancellation.* Throws, not reading; the place in the queue is given up at once.
     *
     * @throws IllegalStateException if [owner] is not null and writes, or would wait for a writer that waits for it.
     */
    public suspend fun lockRead(owner: Any? = null) {
        val holder = if (owner == null) null else liftable()
        if (holder != null) return lockRead(owner, BoostableHolder(holder))
        if (done(core.tryRead(owner), owner, ReadWriteState.READ)) return
        awaitGrant(core, ReadWriteState.READ, owner)
    }

    /** As the other, by one that can be lifted; [note] is what [noteOf] has answered. */
    @PublishedApi
    internal suspend fun lockRead(owner: Any?, note: Any?) {
        if (note !is BoostableHolder) return lockRead(owner)
        if (done(core.tryRead(owner, note), owner, ReadWriteState.READ)) return
        awaitGrant(core, ReadWriteState.READ, NotedRequest(owner, note))
    }

    /** By what a reader of that context is known that gives no owner, if it can be lifted. */
    @PublishedApi
    internal fun noteOf(owner: Any?, context: CoroutineContext): Any? {
        if (!Boosts.inUse || owner != null) return null
        return context.ifLiftable()?.let(::BoostableHolder)
    }

    @PublishedApi
    internal fun unlockRead(owner: Any?, note: Any?) {
        if (!core.leaveRead(owner, note as? BoostableHolder)) refuse("unlockRead", owner)
    }

    /**
     * Reads if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and writes.
     */
    public fun tryLockRead(owner: Any? = null): Boolean = done(core.tryRead(owner), owner, ReadWriteState.READ)

    /**
     * As [lockRead], waiting [timeout] at most, in the clock of the caller's dispatcher. When it answers false the
     * caller does not read, however close the hand-over was. Zero or negative means now or not at all.
     */
    public suspend fun tryLockRead(timeout: Duration, owner: Any? = null): Boolean {
        val holder = if (owner == null) null else liftable()
        if (holder != null) return tryLockRead(timeout, owner, BoostableHolder(holder))
        return tryLockRead(owner) || waitFor(ReadWriteState.READ, owner, timeout)
    }

    private suspend fun tryLockRead(timeout: Duration, owner: Any?, note: BoostableHolder): Boolean {
        if (done(core.tryRead(owner, note), owner, ReadWriteState.READ)) return true
        return waitFor(ReadWriteState.READ, NotedRequest(owner, note), timeout)
    }

    /**
     * Ends reading. The last reader lets in who waits to write.
     *
     * @throws IllegalStateException if nobody reads (plainly), or not with [owner]; the lock stays as it is.
     */
    public fun unlockRead(owner: Any? = null) {
        if (!core.leaveRead(owner)) refuse("unlockRead", owner)
    }

    /**
     * Waits until the caller may write, alone.
     *
     * *Cancellation.* Throws, not writing; the place in the queue is given up at once, and with it the hold on readers.
     *
     * @throws IllegalStateException if [owner] is not null and is inside already.
     */
    public suspend fun lockWrite(owner: Any? = null) {
        if (!tryLockWrite(owner, liftable())) awaitGrant(core, ReadWriteState.WRITE, owner)
    }

    /**
     * Writes if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and is inside already.
     */
    public fun tryLockWrite(owner: Any? = null): Boolean = tryLockWrite(owner, by = null)

    private fun tryLockWrite(owner: Any?, by: CoroutineContext?) =
        done(core.tryWrite(owner, by), owner, ReadWriteState.WRITE)

    /** As [lockWrite], waiting [timeout] at most; see [tryLockRead]. */
    public suspend fun tryLockWrite(timeout: Duration, owner: Any? = null): Boolean {
        return tryLockWrite(owner, liftable()) || waitFor(ReadWriteState.WRITE, owner, timeout)
    }

    /**
     * Ends writing, and lets in who waits, in the order of the [policy].
     *
     * @throws IllegalStateException if nobody writes, or not with [owner]; the lock stays as it is.
     */
    public fun unlockWrite(owner: Any? = null) {
        if (!core.leaveWrite(owner)) refuse("unlockWrite", owner)
    }

    /**
     * Waits until the caller may read upgradably: beside the readers, but not beside a writer or another upgradable
     * one.
     *
     * *Cancellation.* Throws, not reading; the place in the queue is given up at once.
     *
     * @throws IllegalStateException if [owner] is not null and writes or reads upgradably, or reads plainly and would
     *   have to wait: whoever it would wait for may come to wait for it.
     */
    public suspend fun lockUpgradable(owner: Any? = null) {
        if (!tryLockUpgradable(owner, liftable())) awaitGrant(core, ReadWriteState.READ_UPGRADABLY, owner)
    }

    /**
     * Reads upgradably if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and writes or reads upgradably.
     */
    public fun tryLockUpgradable(owner: Any? = null): Boolean = tryLockUpgradable(owner, by = null)

    private fun tryLockUpgradable(owner: Any?, by: CoroutineContext?) =
        done(core.tryReadUpgradably(owner, by), owner, ReadWriteState.READ_UPGRADABLY)

    /** As [lockUpgradable], waiting [timeout] at most; see [tryLockRead]. */
    public suspend fun tryLockUpgradable(timeout: Duration, owner: Any? = null): Boolean {
        return tryLockUpgradable(owner, liftable()) || waitFor(ReadWriteState.READ_UPGRADABLY, owner, timeout)
    }

    /**
     * Ends reading upgradably; not after [upgrade], which only [unlockWrite] and [downgrade] end.
     *
     * @throws IllegalStateException if nobody reads upgradably, or not with [owner], or it is being upgraded; the lock
     *   stays as it is.
     */
    public fun unlockUpgradable(owner: Any? = null) {
        if (!core.leaveUpgradable(owner)) refuse("unlockUpgradable", owner)
    }

    /**
     * Turns reading upgradably into writing, as soon as the other readers have left. It goes before all who wait to
     * write.
     *
     * *Cancellation.* Throws, and the caller still reads upgradably.
     *
     * @throws IllegalStateException if nobody reads upgradably, or not with [owner], or it is being upgraded already;
     *   if [owner] is not null and reads plainly as well. The lock stays as it is.
     */
    public suspend fun upgrade(owner: Any? = null) {
        if (!tryUpgrade(owner, liftable())) awaitGrant(core, ReadWriteState.UPGRADE, owner)
    }

    /** Upgrades if nobody else reads; otherwise as [upgrade], and when it answers false the caller reads upgradably. */
    public fun tryUpgrade(owner: Any? = null): Boolean = tryUpgrade(owner, by = null)

    private fun tryUpgrade(owner: Any?, by: CoroutineContext?) =
        done(core.tryUpgrade(owner, by), owner, ReadWriteState.UPGRADE)

    /** As [upgrade], waiting [timeout] at most; when it answers false the caller still reads upgradably. */
    public suspend fun tryUpgrade(timeout: Duration, owner: Any? = null): Boolean {
        return tryUpgrade(owner, liftable()) || waitFor(ReadWriteState.UPGRADE, owner, timeout)
    }

    /**
     * Turns writing into reading (plainly), without a gap. Other readers are let in as if the writer had left.
     *
     * @throws IllegalStateException if nobody writes, or not with [owner]; the lock stays as it is.
     */
    public fun downgrade(owner: Any? = null) {
        if (!core.downgrade(owner)) refuse("downgrade", owner)
    }

    /**
     * Locks to read within kotlinx.coroutines' `select`, without an owner; the block reads, and unlocks. A clause that
     * loses, or whose select is cancelled, holds nothing.
     */
    public val onRead: SelectClause0 get() = SelectClauses.clause0(Clause(ReadWriteState.READ))

    /** As [onRead], to write. */
    public val onWrite: SelectClause0 get() = SelectClauses.clause0(Clause(ReadWriteState.WRITE))

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause(private val weight: Int) : SelectableCore() {
        override fun valueOf(winner: SelectWaiter): Any = Unit

        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
            SelectWaiter(core, weight, null, clause, select)
    }

    private suspend fun waitFor(weight: Int, owner: Any?, timeout: Duration) =
        timeout > Duration.ZERO && awaitGrant(core, weight, owner, timeout)

    /** Whether it is done, or has to wait. A reader that would wait for ever is told so when it begins to. */
    private fun done(outcome: Outcome, owner: Any?, weight: Int): Boolean =
        when (outcome) {
            Outcome.DONE -> true
            Outcome.BUSY -> false
            Outcome.DEADLOCK if weight != ReadWriteState.UPGRADE -> false
            else -> throw core.refusal(outcome, owner, weight)
        }

    private fun refuse(call: String, owner: Any?): Nothing {
        val asked = if (owner == null) "without an owner" else "by ${nameOf(owner)}"
        val state = toString()
        throw IllegalStateException("$call $asked, but $state")
    }

    override fun toString(): String {
        val label = if (name == null) "ReadWriteLock" else "ReadWriteLock '$name'"
        val readers = readers
        val inside =
            when {
                isWriteLocked -> writeHolder?.let { "written by ${nameOf(it)}" } ?: "written"
                readers > 0 -> "readers = $readers" + names(readHolders)
                else -> "free"
            }
        return "$label ($inside, waiting = $waiting)"
    }

    private fun names(owners: List<Any>) =
        if (owners.isEmpty()) "" else owners.joinToString(prefix = " (", postfix = ")", limit = SHOWN) { nameOf(it) }

    private companion object {
        private const val SHOWN = 5
    }
}

/**
 * Runs [action] while reading, and unlocks however it ends.
 *
 * @throws IllegalStateException as [ReadWriteLock.lockRead]; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withRead(owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    val note = noteOf(owner, coroutineContext)
    lockRead(owner, note)
    try {
        return action()
    } finally {
        unlockRead(owner, note)
    }
}

/**
 * Runs [action] while writing, and unlocks however it ends.
 *
 * @throws IllegalStateException as [ReadWriteLock.lockWrite]; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> ReadWriteLock.withWrite(owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    lockWrite(owner)
    try {
        return action()
    } finally {
        unlockWrite(owner)
    }
}
