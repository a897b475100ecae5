@file:JvmSynthetic

package baton.sync.core

import baton.monitoring.Monitored
import baton.waiting.ClauseWaiter
import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter
import baton.waiting.holders.Holder
import baton.waiting.holders.LockCore
import baton.waiting.holders.LockLook
import baton.waiting.holders.by
import baton.waiting.holders.countWaiter
import baton.waiting.holders.hasKnownHolder
import baton.waiting.holders.makeKnown
import baton.waiting.holders.recordSole
import baton.waiting.holders.uncountWaiter
import baton.waiting.labelOf
import baton.waiting.nameOf
import baton.waiting.wakeAll

/*
 * How it works
 *
 * An [InflatingCore] of one permit, with an owner:
 *
 *            lock()              a caller waits, or locks with an owner, or is to be recorded
 *   FREE ◀──────────▶ HELD ◀──────────────────────────────────────────────────────────────▶ BLOCKED
 *     ▲      unlock()            no waiter, no owner and no recorded holder is left           ▲
 *     └───────────────────────────────────────────────────────────────────────────────────────┘
 *                lock and unlock of a caller with an owner, or one that is to be recorded
 *
 *   FREE       not held; no waiters
 *   HELD       held without an owner; no waiters
 *   BLOCKED    held; the fields under the lock name the holder and the waiters. INFLATED while a decision is made
 *
 * (1) While the word is guarded, `owner`, `queue` and the holder that is recorded are exact under the lock. No
 *     request waits while the mutex is not held.
 * (2) unlock with waiters only replaces the holder: the mutex is never free between two holders, and no newcomer
 *     overtakes.
 * (3) As soon as neither owner nor waiter nor recorded holder is left, the word is HELD or FREE again, and the fast path
 *     is open.
 * (4) Conditions decide under the same lock: see ConditionCore for their use of this queue.
 */
internal class MutexCore(locked: Boolean, private val mutex: Monitored) :
    InflatingCore(if (locked) HELD else FREE), LockCore {
    /** The owner, null if the holder gave none; [FREED] while no caller holds the mutex. Guarded by the lock. */
    private var ownerOrFreed: Any? = null

    /** Whether it is held. As the other fields, meaningful while the word is guarded, under the lock. */
    val isHeld: Boolean
        get() = ownerOrFreed !== FREED

    /** The owner of a mutex that is held. */
    val owner: Any?
        get() = ownerOrFreed

    private val queue = FifoWaitQueue()

    /** The clause of a select by which [owner] holds the mutex, perhaps before the select has accepted it. */
    private var grantedClause: ClauseWaiter? = null

    override fun readWord(word: Long) {
        ownerOrFreed = if (word == HELD) null else FREED
    }

    override fun demandedWord(): Long =
        when {
            !isHeld -> FREE
            owner == null && queue.size == 0 && !hasKnownHolder() -> HELD
            else -> BLOCKED
        }

    val isLocked: Boolean
        get() {
            val seen = word
            return if (seen == INFLATED) decideInflated { isHeld } else seen != FREE
        }

    val holder: Any?
        get() = if (isGuarded(word)) decideInflated { owner.takeIf { isHeld } } else null

    val waiting: Int
        get() = if (isGuarded(word)) decide { queue.size } else 0

    // ---- lock

    /** [by] is the caller, if it is to be recorded as the holder. */
    fun tryLock(newOwner: Any?, by: Holder?): Outcome {
        while (newOwner == null && by == null) {
            if (compareAndSet(FREE, HELD)) return Outcome.DONE
            val seen = word
            if (seen == INFLATED) break
            if (seen != FREE) return Outcome.BUSY
        }
        return lockSlowly(newOwner, by)
    }

    private fun lockSlowly(newOwner: Any?, by: Holder?) = decideInflated {
        when {
            newOwner != null && owner === newOwner -> Outcome.REFUSED
            isHeld -> Outcome.BUSY
            else -> Outcome.DONE.also { hold(newOwner, by) }
        }
    }

    private fun hold(newOwner: Any?, by: Holder?) {
        ownerOrFreed = newOwner
        recordSole(by)
    }

    override fun enqueue(waiter: Waiter): Int {
        makeKnown(waiter)
        val isEnqueued = waiter.owner == null && plainly { enqueuePlainly(waiter, queue) { it == HELD } }
        return if (isEnqueued) Waiter.WAITING else enqueueSlowly(waiter)
    }

    private fun enqueueSlowly(waiter: Waiter): Int = decideInflated { enqueueUnderLock(waiter) }

    private fun enqueueUnderLock(waiter: Waiter): Int {
        val newOwner = waiter.owner
        while (newOwner != null && owner === newOwner && !isRivalOfGranted(waiter)) {
            if (returnOwnGrant(waiter)) continue
            waiter.tryFail(newOwner)
            return waiter.currentState
        }
        if (!isHeld) {
            if (waiter.tryGrant()) hold(newOwner, waiter.by)
        } else if (waiter.startWaiting()) {
            addWaiter(waiter)
            return Waiter.WAITING
        }
        return waiter.currentState
    }

    /**
     * A select that was granted the mutex while it was still registering enqueues its clause again, perhaps before the
     * granting thread has seen the refusal. The owner then holds the mutex only by the clause's former waiter, which
     * this returns. False if the mutex is held otherwise.
     */
    private fun returnOwnGrant(waiter: Waiter): Boolean {
        val former = grantedClause ?: return false
        if (!former.isSameClause(waiter) || !former.tryReturn()) return false
        handOff()
        return true
    }

    /** Whether [waiter] is another clause of the select whose clause was granted the mutex: one of the two loses. */
    private fun isRivalOfGranted(waiter: Waiter): Boolean {
        val holder = grantedClause ?: return false
        return holder.selectId === waiter.selectId &&
            !holder.isSameClause(waiter) &&
            holder.currentState == Waiter.GRANTED
    }

    private fun addWaiter(waiter: Waiter) {
        queue.add(waiter)
        countPeak(queue.size)
        countWaiter(waiter)
    }

    // ---- unlock

    /** REFUSED when it is not held, or not with [expectedOwner]; nothing has changed then. */
    fun unlock(expectedOwner: Any?): Outcome {
        if (expectedOwner == null) {
            if (compareAndSet(HELD, FREE)) return Outcome.DONE
            val next = plainly {
                if (owner == null && queue.head()?.owner == null) handOverPlainly(queue, HELD) else null
            }
            if (next != null) {
                wakeAll(next)
                return Outcome.DONE
            }
        }
        return unlockSlowly(expectedOwner)
    }

    private fun unlockSlowly(expectedOwner: Any?) = decideInflated {
        if (owner === expectedOwner) Outcome.DONE.also { handOff() } else Outcome.REFUSED
    }

    /** Ends the current hold: the next waiter becomes the holder, or the mutex becomes free. Under the lock. */
    fun handOff() {
        ownerOrFreed = FREED
        grantedClause = null
        recordSole(null)
        val next = queue.head() ?: return
        unlink(next)
        hold(next.owner, next.by)
        // Only a request with an owner can be refused as locked twice.
        grantedClause = if (next.owner == null) null else next as? ClauseWaiter
        next.grantQueued()
        wake(next)
    }

    // ---- called by the condition and by waiters, under the lock

    /** Enqueues [waiter], which is WAITING already, or hands it the mutex if that is free. The word is inflated. */
    fun requeue(waiter: Waiter) {
        noteWaitAnew(waiter)
        addWaiter(waiter)
        if (!isHeld) handOff()
    }

    override val queuedWaiters: Int
        get() = queue.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit, visit)
    }

    override fun ownerIn(request: Any?): Any? = request

    override fun addWaits(look: LockLook) {
        visitWaiters(Int.MAX_VALUE) { look.addWait(it, LockLook.SOLE) }
    }

    override fun isQueued(waiter: Waiter): Boolean = queue.contains(waiter)

    override fun removeInflated(waiter: Waiter) = unlink(waiter)

    /** Takes [waiter] out of the queue. */
    fun unlink(waiter: Waiter) {
        queue.remove(waiter)
        uncountWaiter(waiter)
    }

    override fun takeBackInflated(waiter: Waiter) {
        // Otherwise another caller has unlocked it by mistake.
        if (owner === waiter.owner) handOff()
    }

    // ---- messages

    override fun label(): String = labelOf("Mutex", mutex.name)

    override fun toString(): String = mutex.toString()

    override fun verbOf(waiter: Waiter): String = "lock"

    override fun failure(waiter: Waiter): Throwable = lockedTwice(waiter.outcome)

    fun lockedTwice(owner: Any?): IllegalStateException =
        IllegalStateException("${label()} is already locked by ${nameOf(checkNotNull(owner))}")

    internal enum class Outcome {
        DONE,
        BUSY,
        REFUSED,
    }

    private companion object {
        private const val FREE = 0L
        private const val HELD = 1L

        private val FREED = Any()
    }
}

/** The owner for which it asks for the mutex, or null. */
private val Waiter.owner: Any?
    get() = request
