package baton.sync

import baton.Boosting
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.LockMode
import baton.sync.core.ReadWriteCore
import baton.sync.core.ReadWriteOutcome
import baton.sync.core.holders
import baton.sync.core.notHeld
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.isExplored
import baton.waiting.flight.FlightEvents
import baton.waiting.holders.Holder
import baton.waiting.holders.KnownCallers
import baton.waiting.holders.callerByOwner
import baton.waiting.holders.callerFor
import baton.waiting.holders.callerOf
import baton.waiting.holders.requireOwner
import baton.waiting.lookAtWaiters
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause0
import kotlinx.coroutines.selects.SelectInstance

/**
 * A lock for coroutines that many readers may hold at the same time, or one writer alone.
 *
 * Use it where reads are frequent and suspend; where they are short and do not suspend, a [Mutex] or an immutable
 * snapshot in an `AtomicReference` is simpler and often faster.
 *
 * ```
 * suspend fun find(key: String): Value? = lock.withRead { store.load(key) }
 *
 * suspend fun replace(key: String, value: Value) = lock.withWrite { store.save(key, value) }
 * ```
 *
 * *Waiting.* [lockRead], [lockWrite], [lockUpgradable] and [upgrade] suspend until the lock is granted; their try forms
 * never wait, or for a limited time.
 *
 * *Order.* Defined by the [policy], for coroutines, `select` clauses and the futures of the Java API alike: writers and
 * upgradable readers are served first come, first served; waiting readers are admitted together.
 *
 * *Upgrading.* One reader at a time may be upgradable: it reads beside the others, and only it may [upgrade], which
 * waits until the other readers have unlocked. [downgrade] turns writing into reading. No other writer gets in between.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits, or after the grant but before it runs, throws and
 * holds no more than before. When a waiting writer is cancelled, the readers that it blocked are admitted at once. A
 * call that does not have to wait does not check for cancellation.
 *
 * *Memory.* Actions before an [unlockWrite] or [downgrade] happen before the actions that follow the next lock of any
 * kind; actions before an [unlockRead] happen before the actions that follow the next lock to write, or [upgrade].
 *
 * *Owners.* An owner is any object that stands for the holder, compared by identity; only it can end its hold. With
 * owners, waiting for oneself throws instead of hanging. Each of these throws [IllegalStateException] with the names of
 * both owners: to lock for writing while reading or writing, to upgrade while also reading plainly, to read again
 * behind a writer that waits for this very reader to unlock, and to wait for an upgradable read while reading plainly.
 * (Reading again is allowed where it does not have to wait.) Without owners none of this is detected. While an owner
 * holds the lock, or a caller waits, every call takes an internal lock; otherwise it is one atomic operation.
 *
 * *Boosting.* While a waiter is more urgent than the holders, they are boosted as the holder of a [Mutex] is (see
 * [Boosting]): a writer, an upgradable reader, and readers that came by [withRead] or gave an owner. The lock cannot
 * match the unlock of any other reader to the reader that locked, so it does not boost those, nor a writer after a
 * [downgrade] without an owner.
 *
 * *Misuse.* Unlocking, upgrading or downgrading a hold of a kind that the caller does not have throws
 * [IllegalStateException] and changes nothing. A caller without an owner is not checked to be one of the holders. All
 * members may be called from any thread; the lock is not bound to threads or coroutines.
 *
 * @property policy the order in which waiting readers and writers are admitted.
 * @property name shown by messages and [toString].
 */
public class ReadWriteLock(
    public val policy: ReadWritePolicy = ReadWritePolicy.PHASE_FAIR,
    public override val name: String? = null,
) : Monitored {
    @get:JvmSynthetic internal val core: ReadWriteCore = ReadWriteCore(policy, this)

    init {
        listIfNamed(core)
    }

    /** The number of readers, including the upgradable one. */
    public val readers: Int
        get() = core.readerCount

    /** Whether a writer holds the lock. */
    public val isWriteLocked: Boolean
        get() = core.isWriteLocked

    /** The owner that writes; null if there is no writer, or if it has no owner. */
    public val writeHolder: Any?
        get() = core.writeHolder

    /** The owners that read, in no particular order, each once. Readers without an owner are not included. */
    public val readHolders: List<Any>
        get() = core.readHolders

    /** How many callers wait, to read, to write or to upgrade. */
    public val waiting: Int
        get() = core.waiting

    /**
     * 1 of 1 while a reader or a writer holds the lock, and the callers that wait: an upgrade, then those that wait to
     * write or to read upgradably, then readers.
     */
    override fun usage(): Usage {
        val look = core.lookAtWaiters()
        return look.toUsage(inUse = if (isWriteLocked || readers > 0) 1 else 0, capacity = 1)
    }

    /**
     * Locks to read, waiting if necessary.
     *
     * *Cancellation.* Throws and does not read; the waiter leaves the queue at once.
     *
     * @throws IllegalStateException if [owner] is not null and writes, or would wait for a writer that waits for it.
     */
    public suspend fun lockRead(owner: Any? = null) {
        lockReadByToken(owner, readerFor(owner))
    }

    // The published functions are for inlined bodies alone: they stay in the bytecode of their callers.

    /** The coroutine as a reader that the unlock can be matched to, if the lock is to know that; else null. */
    @PublishedApi
    @JvmSynthetic
    internal fun readTokenOf(owner: Any?, context: CoroutineContext): Any? {
        requireOwner(owner)
        return if (KnownCallers.areWanted) core.callerOf(context, owner, isToken = true) else null
    }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockReadByToken(owner: Any?, token: Any?) {
        val by = token as Holder?
        if (!isExplored() && done(LockMode.READ, core.tryRead(owner, by), owner)) return
        awaitGrant(core, request = LockMode.READ.request(owner), by = by)
    }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockReadWithin(timeout: Duration, owner: Any?, token: Any?) {
        if (!tryLockRead(timeout, owner, token as Holder?))
            throw FlightEvents.late("not locked to read within $timeout: ", this)
    }

    @PublishedApi
    @JvmSynthetic
    internal fun unlockReadByToken(owner: Any?, token: Any?) {
        if (!core.endRead(owner, token as Holder?)) refuse("unlockRead", owner)
    }

    /** The calling coroutine as a reader without a token. */
    private suspend inline fun readerFor(owner: Any?): Holder? {
        requireOwner(owner)
        return if (KnownCallers.areWanted) core.callerOf(coroutineContext, owner, isAnonymous = owner == null) else null
    }

    /**
     * Locks to read if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and writes.
     */
    public fun tryLockRead(owner: Any? = null): Boolean =
        done(LockMode.READ, core.tryRead(owner, core.callerByOwner(owner)), owner)

    /**
     * As [lockRead], waiting [timeout] at most, in the clock of the caller's dispatcher. When it returns false the
     * caller does not read, even if the grant raced with the timeout. With zero or less it does not wait.
     */
    public suspend fun tryLockRead(timeout: Duration, owner: Any? = null): Boolean =
        tryLockRead(timeout, owner, readerFor(owner))

    private suspend fun tryLockRead(timeout: Duration, owner: Any?, by: Holder?): Boolean {
        if (!isExplored(timeout) && done(LockMode.READ, core.tryRead(owner, by), owner)) return true
        return waitFor(LockMode.READ, owner, by, timeout)
    }

    /**
     * Ends reading. When the last reader unlocks, the next writer is admitted.
     *
     * @throws IllegalStateException if there is no (plain) reader, or none with [owner]; the lock stays as it is.
     */
    public fun unlockRead(owner: Any? = null) {
        unlockReadByToken(owner, token = null)
    }

    /**
     * Locks to write, alone, waiting if necessary.
     *
     * *Cancellation.* Throws and does not write; the waiter leaves the queue at once and no longer blocks readers.
     *
     * @throws IllegalStateException if [owner] is not null and holds the lock already.
     */
    public suspend fun lockWrite(owner: Any? = null) {
        val by = core.callerFor(owner)
        if (!isExplored() && tryLockWrite(owner, by)) return
        awaitGrant(core, request = LockMode.WRITE.request(owner), by = by)
    }

    /**
     * Locks to write if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and holds the lock already.
     */
    public fun tryLockWrite(owner: Any? = null): Boolean = tryLockWrite(owner, core.callerByOwner(owner))

    private fun tryLockWrite(owner: Any?, by: Holder?) = done(LockMode.WRITE, core.tryWrite(owner, by), owner)

    /** As [lockWrite], waiting [timeout] at most; see [tryLockRead]. */
    public suspend fun tryLockWrite(timeout: Duration, owner: Any? = null): Boolean {
        val by = core.callerFor(owner)
        if (!isExplored(timeout) && tryLockWrite(owner, by)) return true
        return waitFor(LockMode.WRITE, owner, by, timeout)
    }

    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockWriteWithin(timeout: Duration, owner: Any?) {
        if (!tryLockWrite(timeout, owner)) throw FlightEvents.late("not locked to write within $timeout: ", this)
    }

    /**
     * Ends writing, and admits waiters in the order of the [policy].
     *
     * @throws IllegalStateException if there is no writer, or not with [owner]; the lock stays as it is.
     */
    public fun unlockWrite(owner: Any? = null) {
        if (!core.endWrite(owner)) refuse("unlockWrite", owner)
    }

    /**
     * Locks to read upgradably, waiting if necessary: beside readers, but not beside a writer or another upgradable
     * reader.
     *
     * *Cancellation.* Throws and does not read; the waiter leaves the queue at once.
     *
     * @throws IllegalStateException if [owner] is not null and writes or reads upgradably, or reads plainly and would
     *   have to wait: the request that it would wait for may come to wait for it.
     */
    public suspend fun lockUpgradable(owner: Any? = null) {
        val by = core.callerFor(owner)
        if (!isExplored() && tryLockUpgradable(owner, by)) return
        awaitGrant(core, request = LockMode.UPGRADABLE.request(owner), by = by)
    }

    /**
     * Locks to read upgradably if that needs no waiting.
     *
     * @throws IllegalStateException if [owner] is not null and writes or reads upgradably.
     */
    public fun tryLockUpgradable(owner: Any? = null): Boolean = tryLockUpgradable(owner, core.callerByOwner(owner))

    private fun tryLockUpgradable(owner: Any?, by: Holder?) =
        done(LockMode.UPGRADABLE, core.tryReadUpgradably(owner, by), owner)

    /** As [lockUpgradable], waiting [timeout] at most; see [tryLockRead]. */
    public suspend fun tryLockUpgradable(timeout: Duration, owner: Any? = null): Boolean {
        val by = core.callerFor(owner)
        if (!isExplored(timeout) && tryLockUpgradable(owner, by)) return true
        return waitFor(LockMode.UPGRADABLE, owner, by, timeout)
    }

    /**
     * Ends reading upgradably. After an [upgrade], only [unlockWrite] and [downgrade] end the hold.
     *
     * @throws IllegalStateException if there is no upgradable reader, or not with [owner], or it is upgrading; the lock
     *   stays as it is.
     */
    public fun unlockUpgradable(owner: Any? = null) {
        if (!core.endUpgradable(owner)) refuse("unlockUpgradable", owner)
    }

    /**
     * Turns an upgradable read into a write, as soon as the other readers have unlocked. It is served before all
     * waiting writers.
     *
     * *Cancellation.* Throws, and the caller still reads upgradably.
     *
     * @throws IllegalStateException if there is no upgradable reader, or not with [owner], or it is upgrading already;
     *   if [owner] is not null and reads plainly as well. The lock stays as it is.
     */
    public suspend fun upgrade(owner: Any? = null) {
        val by = core.callerFor(owner)
        if (!isExplored() && tryUpgrade(owner, by)) return
        awaitGrant(core, request = LockMode.UPGRADE.request(owner), by = by)
    }

    /** As [upgrade], but only if there is no other reader. When it returns false the caller still reads upgradably. */
    public fun tryUpgrade(owner: Any? = null): Boolean = tryUpgrade(owner, core.callerByOwner(owner))

    private fun tryUpgrade(owner: Any?, by: Holder?) = done(LockMode.UPGRADE, core.tryUpgrade(owner, by), owner)

    /** As [upgrade], waiting [timeout] at most. When it returns false the caller still reads upgradably. */
    public suspend fun tryUpgrade(timeout: Duration, owner: Any? = null): Boolean {
        val by = core.callerFor(owner)
        if (!isExplored(timeout) && tryUpgrade(owner, by)) return true
        return waitFor(LockMode.UPGRADE, owner, by, timeout)
    }

    /**
     * Turns the write into a plain read in one step. Other readers are admitted as after [unlockWrite].
     *
     * @throws IllegalStateException if there is no writer, or not with [owner]; the lock stays as it is.
     */
    public fun downgrade(owner: Any? = null) {
        if (!core.downgrade(owner)) refuse("downgrade", owner)
    }

    /**
     * Locks to read within kotlinx.coroutines' `select`, without an owner; the block holds the lock and must unlock it.
     * A clause that loses, or whose select is cancelled, holds nothing.
     */
    public val onRead: SelectClause0
        get() = SelectClauses.clause0(Clause(LockMode.READ))

    /** As [onRead], to write. */
    public val onWrite: SelectClause0
        get() = SelectClauses.clause0(Clause(LockMode.WRITE))

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause(private val mode: LockMode) : SelectableCore() {
        override fun valueOf(winner: SelectWaiter): Any = Unit

        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
            SelectWaiter(core, number = 1, mode.request(null), clause, select)
    }

    private suspend fun waitFor(mode: LockMode, owner: Any?, by: Holder?, timeout: Duration) =
        timeout > Duration.ZERO && awaitGrant(core, request = mode.request(owner), timeout = timeout, by = by)

    /**
     * True if the caller holds the lock, false if it has to wait; throws if it is refused. A lock request that would
     * wait for ever is refused only when it begins to wait: its try form just returns false.
     */
    private fun done(mode: LockMode, outcome: ReadWriteOutcome, owner: Any?): Boolean =
        when {
            outcome == ReadWriteOutcome.DONE -> true
            outcome == ReadWriteOutcome.BUSY -> false
            outcome == ReadWriteOutcome.DEADLOCK && mode != LockMode.UPGRADE -> false
            else -> throw core.refusal(outcome, owner, mode)
        }

    private fun refuse(call: String, owner: Any?): Nothing = throw core.notHeld(call, owner)

    override fun toString(): String = "${core.label()} (${core.holders()}, waiting = $waiting)"
}
