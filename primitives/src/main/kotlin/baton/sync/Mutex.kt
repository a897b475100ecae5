package baton.sync

import baton.Boosting
import baton.PermitTimeoutException
import baton.Priority
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.MutexCore
import baton.waiting.NOT_LOCKED
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.isExplored
import baton.waiting.flight.FlightEvents
import baton.waiting.holders.Holder
import baton.waiting.holders.callerByOwner
import baton.waiting.holders.callerFor
import baton.waiting.lockedBy
import baton.waiting.lookAtWaiters
import baton.waiting.nameOf
import baton.waiting.wrongOwner
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause2
import kotlinx.coroutines.selects.SelectInstance

/**
 * Mutual exclusion for coroutines: at most one holder at a time.
 *
 * Use it for a section that suspends, such as "read the balance, call the bank, write the balance". Where nothing
 * suspends, an `AtomicLong` or a `ReentrantLock` is simpler; where the state belongs to one coroutine, no lock is
 * needed.
 *
 * ```
 * suspend fun deposit(amount: Long) = mutex.withLock {
 *     bank.write(bank.read() + amount)
 * }
 * ```
 *
 * *Waiting.* [lock] suspends until the mutex is handed over; [tryLock] never waits, or for a limited time.
 *
 * *Order.* Strictly first come, first served, for coroutines, `select` clauses and the futures of the Java API alike.
 * [unlock] hands over directly: between two holders the mutex is never free.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits, or after the hand-over but before it runs, throws
 * and does not hold the mutex; the mutex goes to the next waiter first. A call that does not have to wait does not
 * check for cancellation.
 *
 * *Memory.* Actions before an [unlock] happen before the actions that follow the next [lock] or successful [tryLock]. A
 * failed [tryLock] publishes and sees nothing.
 *
 * *Owners.* An owner is any object that stands for the holder, compared by identity. With an owner, a second lock
 * throws instead of waiting for itself for ever, and only the owner can unlock. The mutex is not reentrant. A
 * [Duration], which has no identity, is refused as an owner, so that no timeout is taken for one.
 *
 * *Boosting.* While a waiter is more urgent than the coroutine that holds the mutex, that coroutine and its children
 * run at the level of the most urgent waiter, if their dispatcher supports boosting (see [Boosting]). The mutex knows
 * its holder if that locked it by a suspending call or by a `select`, not by the non-suspending [tryLock] or a future
 * of the Java API. The level of a waiter is read when it begins to wait, and only if a [Priority] in its context or its
 * dispatcher gives one; so a holder that is boosted while it waits for another lock does not pass the boost on to the
 * holder of that lock.
 *
 * *Misuse.* An [unlock] of a mutex that is not locked, or not locked with exactly the given owner (none included), and
 * a second lock with the same owner throw [IllegalStateException] and change nothing.
 *
 * All members may be called from any thread. The mutex is not bound to threads or coroutines: another coroutine may
 * unlock it.
 *
 * @param locked whether it starts locked, without an owner.
 */
public class Mutex @JvmOverloads constructor(locked: Boolean = false, name: String? = null) : Monitored {
    // No second constructor: the compiler's message for a wrong call would show its parameters, internal or not.
    private var named: Any? = name
    @get:JvmSynthetic internal val core: MutexCore = MutexCore(locked, this)

    init {
        listIfNamed(core)
    }

    /** Shown by messages and [toString]. */
    public override val name: String?
        get() = named?.toString()

    /** This new mutex with the text of [entry] as its name. It is one of many keys, and not listed. */
    @JvmSynthetic
    internal fun named(entry: Any): Mutex {
        named = entry
        return this
    }

    /** Whether it is held. */
    public val isLocked: Boolean
        get() = core.isLocked

    /** The owner with which it was locked; null when it is free or was locked without one. */
    public val holder: Any?
        get() = core.holder

    /** Whether it is locked with this [owner], compared by identity. */
    public fun holdsLock(owner: Any): Boolean = holder === owner

    /** How many callers wait, including those that return from a [Condition]. */
    public val waiting: Int
        get() = core.waiting

    /** 1 of 1 while it is held, and the callers that wait. */
    override fun usage(): Usage = core.lookAtWaiters().toUsage(inUse = if (isLocked) 1 else 0, capacity = 1)

    /**
     * Locks the mutex, waiting for it if necessary.
     *
     * *Cancellation.* Throws and does not hold the mutex; the waiter leaves the queue at once.
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public suspend fun lock(owner: Any? = null) {
        val by = core.callerFor(owner)
        if (!isExplored() && tryLock(owner, by)) return
        awaitGrant(core, request = owner, by = by)
    }

    /**
     * Locks if it is free.
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public fun tryLock(owner: Any? = null): Boolean = tryLock(owner, core.callerByOwner(owner))

    private fun tryLock(owner: Any?, by: Holder?): Boolean =
        when (core.tryLock(owner, by)) {
            MutexCore.Outcome.DONE -> true
            MutexCore.Outcome.BUSY -> false
            MutexCore.Outcome.REFUSED -> throw core.lockedTwice(owner)
        }

    /**
     * Locks, waiting [timeout] at most, in the clock of the caller's dispatcher. When it returns false the caller does
     * not hold the mutex, even if the hand-over raced with the timeout. With zero or less it does not wait.
     *
     * *Cancellation.* As [lock].
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public suspend fun tryLock(timeout: Duration, owner: Any? = null): Boolean {
        val by = core.callerFor(owner)
        if (!isExplored(timeout) && tryLock(owner, by)) return true
        if (timeout <= Duration.ZERO) return false
        return awaitGrant(core, request = owner, timeout = timeout, by = by)
    }

    /** As [lock], or throws [PermitTimeoutException]. Inlined bodies call it: it stays in their bytecode. */
    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockWithin(timeout: Duration, owner: Any?) {
        if (!tryLock(timeout, owner)) throw FlightEvents.late("not locked within $timeout: ", this)
    }

    /**
     * Hands the mutex to the next waiter, or frees it.
     *
     * @param owner the owner with which it was locked, or null.
     * @throws IllegalStateException if it is not locked, or not by [owner]; it stays as it is.
     */
    public fun unlock(owner: Any? = null) {
        if (core.unlock(owner) == MutexCore.Outcome.DONE) return
        val holder = holder
        val state =
            when {
                holder != null -> lockedBy(holder, owner)
                isLocked -> "locked without an owner"
                else -> NOT_LOCKED
            }
        throw IllegalStateException(wrongOwner("unlock", owner, core.label(), state))
    }

    /**
     * Locks within kotlinx.coroutines' `select`; the parameter is the owner, or null. The block gets this mutex,
     * locked. A clause that loses, or whose select is cancelled, holds nothing. A second lock with the same owner makes
     * the select throw [IllegalStateException].
     */
    public val onLock: SelectClause2<Any?, Mutex>
        get() = SelectClauses.clause2(Clause())

    /**
     * A new condition, on which the holder can wait for a change that other holders make.
     *
     * @param name shown by messages and its `toString`.
     */
    public fun newCondition(name: String? = null): Condition = Condition(this, name)

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause : SelectableCore() {
        override fun valueOf(winner: SelectWaiter): Mutex = this@Mutex

        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter =
            SelectWaiter(core, 1, param, clause, select)
    }

    override fun toString(): String {
        val label = core.label()
        val holder = holder
        return when {
            holder != null -> "$label (locked by ${nameOf(holder)}, waiting = $waiting)"
            isLocked -> "$label (locked, waiting = $waiting)"
            else -> "$label (free)"
        }
    }
}

/**
 * Runs [action] while holding the mutex, and unlocks it however [action] ends.
 *
 * @throws IllegalStateException if [owner] is not null and holds it already; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Mutex.withLock(owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    lock(owner)
    try {
        return action()
    } finally {
        unlock(owner)
    }
}

/**
 * As [withLock] without a timeout, but waits [timeout] at most for the mutex, as [Mutex.tryLock] does. The [action] may
 * take as long as it takes.
 *
 * @throws PermitTimeoutException if the mutex was not granted in time; [action] has not run.
 * @throws IllegalStateException if [owner] is not null and holds it already; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Mutex.withLock(timeout: Duration, owner: Any? = null, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    lockWithin(timeout, owner)
    try {
        return action()
    } finally {
        unlock(owner)
    }
}
