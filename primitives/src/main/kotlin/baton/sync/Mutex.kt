package baton.sync

import baton.Boosting
import baton.Priority
import baton.waiting.boost.liftable
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.CoroutineContext
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
 * *Waiting.* [lock] suspends until the mutex is handed over; [tryLock] never waits, or for a limited time.
 *
 * *Order.* Strictly first come, first served, for coroutines, `select` clauses and the futures of the Java face alike.
 * [unlock] hands over directly: between two holders the mutex is never free.
 *
 * *Cancellation.* Prompt: whoever is cancelled while it waits, or after the hand-over but before it runs, throws and
 * holds nothing; the next in line gets the mutex first. A call that need not wait does not look for cancellation.
 *
 * *Memory.* What happens before an [unlock] happens before whatever follows the next [lock] or successful [tryLock]. A
 * failed [tryLock] publishes and sees nothing.
 *
 * *Owners.* An owner is any object that stands for the holder, compared by identity. With one, locking twice is
 * reported instead of waiting for itself for ever, and only the owner can unlock. The mutex is not reentrant.
 *
 * *Boosting.* While somebody waits who is more urgent than the coroutine that holds the mutex, that coroutine and all
 * inside it run at the level of the most urgent who waits, if their dispatcher can lift them (see [Boosting]). It is
 * known who holds it if that was locked by a call that suspends or by a `select`, not by the other [tryLock] or a
 * future of the Java face. Levels count as they are when one begins to wait, and only where a [Priority] or the
 * dispatcher says one; so a holder that is lifted while it waits for another lock itself does not pass that on.
 *
 * *Misuse.* Unlocking what is not locked, or is locked by another owner (also: by one when none is given, or by none),
 * and locking again with the same owner, throw [IllegalStateException] and change nothing.
 *
 * All members may be called from any thread. The mutex is not bound to threads or coroutines: another coroutine may
 * unlock it.
 *
 * @param locked whether it starts locked, without an owner.
 * @property name shown by messages and [toString].
 */
public class Mutex(locked: Boolean = false, public val name: String? = null) {
    internal val core: MutexCore = MutexCore(locked, ::label)

    /** Whether somebody holds it. */
    public val isLocked: Boolean get() = core.isLocked

    /** The owner it was locked with; null when it is free or was locked without one. */
    public val holder: Any? get() = core.holder

    /** How many wait, those included who come back from a [Condition]. */
    public val waiting: Int get() = core.waiting

    /**
     * Waits until the mutex is this caller's.
     *
     * *Cancellation.* Throws holding nothing; the place in the queue is given up at once.
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public suspend fun lock(owner: Any? = null) {
        if (tryLock(owner, liftable())) return
        awaitGrant(core, weight = 1, tag = owner)
    }

    /**
     * Locks if it is free.
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public fun tryLock(owner: Any? = null): Boolean = tryLock(owner, by = null)

    private fun tryLock(owner: Any?, by: CoroutineContext?): Boolean =
        when (core.tryLock(owner, by)) {
            MutexCore.Outcome.DONE -> true
            MutexCore.Outcome.BUSY -> false
            MutexCore.Outcome.REFUSED -> throw core.lockedTwice(owner!!)
        }

    /**
     * Locks, waiting [timeout] at most, in the clock of the caller's dispatcher. When it answers false nothing is held,
     * however close the hand-over was. Zero or negative means now or not at all.
     *
     * *Cancellation.* As [lock].
     *
     * @throws IllegalStateException if [owner] is not null and holds it already.
     */
    public suspend fun tryLock(timeout: Duration, owner: Any? = null): Boolean {
        if (tryLock(owner, liftable())) return true
        if (timeout <= Duration.ZERO) return false
        return awaitGrant(core, weight = 1, tag = owner, timeout = timeout)
    }

    /**
     * Hands the mutex to the next in line, or frees it.
     *
     * @param owner the one it was locked with.
     * @throws IllegalStateException if it is not locked, or not by [owner]; it stays as it is.
     */
    public fun unlock(owner: Any? = null) {
        if (core.unlock(owner) == MutexCore.Outcome.DONE) return
        val asked = if (owner == null) "without an owner" else "by ${nameOf(owner)}"
        val state = toString()
        throw IllegalStateException("unlock $asked, but $state")
    }

    /**
     * Locks within kotlinx.coroutines' `select`; the parameter is the owner, or null. The block gets this mutex,
     * locked. A clause that loses, or whose select is cancelled, holds nothing. Locking again with the same owner makes
     * the select throw [IllegalStateException].
     */
    public val onLock: SelectClause2<Any?, Mutex> get() = SelectClauses.clause2(Clause())

    /**
     * A new condition on which the holder can wait for what other holders are to bring about.
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

    private fun label() = if (name == null) "Mutex" else "Mutex '$name'"

    override fun toString(): String {
        val label = label()
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
