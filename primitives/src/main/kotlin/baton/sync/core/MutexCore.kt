@file:JvmSynthetic

package baton.sync.core

import baton.monitoring.Monitored
import baton.waiting.BoostableCoroutine
import baton.waiting.ClauseWaiter
import baton.waiting.FifoWaitQueue
import baton.waiting.LockLook
import baton.waiting.NotedCaller
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.boost.clearSoleHolder
import baton.waiting.boost.countWaiter
import baton.waiting.boost.readUrgency
import baton.waiting.boost.recordSoleHolder
import baton.waiting.boost.uncountWaiter
import baton.waiting.caller
import baton.waiting.hasKnownHolder
import baton.waiting.holderNotes
import baton.waiting.labelOf
import baton.waiting.nameOf
import baton.waiting.noteSole
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle

/*
 * How it works
 *
 *            lock()              a caller waits, or locks with an owner, or can be boosted or noted
 *   FREE ◀──────────▶ HELD ◀──────────────────────────────────────────────────────────────▶ INFLATED
 *            unlock()            no waiter, no owner and no recorded or noted holder is left
 *
 *   FREE       not held; no waiters
 *   HELD       held without an owner; no waiters
 *   INFLATED   held; the fields under the lock name the holder and the waiters
 *
 * (1) FREE ⇄ HELD is one compare-and-set by any thread, without the lock. All other changes are made under the lock.
 * (2) In INFLATED, `owner`, `queue` and the holder that PriorityInheritance has recorded are exact under the lock, and
 *     at least one of them is present. So a thread that reads the word and, if it is INFLATED, the rest under the lock,
 *     sees one consistent state.
 * (3) unlock with waiters leaves INFLATED (or HELD, see 4) in place and only replaces the holder: the mutex is never
 *     free between two holders, and no newcomer overtakes.
 * (4) As soon as neither owner nor waiter nor recorded holder is left, the word returns to HELD or FREE, and the fast
 *     path is open again.
 * (5) Conditions decide under the same lock: see ConditionCore for their use of this queue.
 */
internal class MutexCore(locked: Boolean, private val mutex: Monitored) : WaitCore() {
    @Volatile private var word: Int = if (locked) HELD else FREE

    // Guarded by the lock; meaningful while INFLATED.
    var owner: Any? = null
        private set

    private val queue = FifoWaitQueue()

    /** The clause of a select by which [owner] holds the mutex, perhaps before its select was told. */
    private var grantedClause: ClauseWaiter? = null

    val isLocked: Boolean
        get() = word != FREE

    val holder: Any?
        get() = if (word == INFLATED) decide { owner } else null

    val waiting: Int
        get() = if (word == INFLATED) decide { queue.size } else 0

    /** [newHolder] is the calling coroutine, if its priority can be boosted; [caller] is to be noted as the holder. */
    fun tryLock(newOwner: Any?, newHolder: BoostableCoroutine? = null, caller: NotedCaller? = null): Outcome =
        when {
            newOwner != null || newHolder != null || caller != null ->
                decide { tryLockUnderLock(newOwner, newHolder, caller) }
            WORD.compareAndSet(this, FREE, HELD) -> Outcome.DONE
            else -> Outcome.BUSY
        }

    /** Under the lock. REFUSED when [newOwner] holds the mutex already. */
    private fun tryLockUnderLock(newOwner: Any?, newHolder: BoostableCoroutine?, caller: NotedCaller?): Outcome {
        while (true) {
            when (word) {
                FREE -> {
                    val isPlain = newOwner == null && newHolder == null && caller == null
                    val locked = if (isPlain) HELD else INFLATED
                    if (WORD.compareAndSet(this, FREE, locked)) {
                        owner = newOwner
                        if (newHolder != null) recordSoleHolder(newHolder)
                        noteSole(caller)
                        return Outcome.DONE
                    }
                }
                HELD -> return Outcome.BUSY
                else -> return if (newOwner != null && owner === newOwner) Outcome.REFUSED else Outcome.BUSY
            }
        }
    }

    override fun enqueue(waiter: Waiter): Int {
        waiter.readUrgency()
        noteWait(waiter)
        return decide { enqueueUnderLock(waiter) }
    }

    override val queuedWaiters: Int
        get() = queue.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit, visit)
    }

    override fun ownerIn(request: Any?): Any? = request

    override val notesHolders: Boolean
        get() = true

    override fun lookForDeadlocks(look: LockLook) {
        look.addHold(holderNotes?.sole, LockLook.SOLE)
        visitWaiters(Int.MAX_VALUE) { look.addWait(it, LockLook.SOLE) }
    }

    private fun enqueueUnderLock(waiter: Waiter): Int {
        while (true) {
            val owner = waiter.owner
            val outcome = tryLockUnderLock(owner, waiter.holder, waiter.caller)
            when {
                outcome == Outcome.DONE -> if (!waiter.tryGrant()) takeBack(waiter)
                outcome == Outcome.REFUSED && owner != null && !isRivalOfGranted(waiter) ->
                    if (returnOwnGrant(waiter)) continue else waiter.tryFail(owner)
                else -> {
                    if (word != INFLATED && !WORD.compareAndSet(this, HELD, INFLATED)) continue
                    if (waiter.startWaiting()) {
                        addWaiter(waiter)
                        return Waiter.WAITING
                    }
                    updateWord()
                }
            }
            return waiter.currentState
        }
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

    private fun unlink(waiter: Waiter) {
        queue.remove(waiter)
        uncountWaiter(waiter)
    }

    /** REFUSED when it is not held, or not with [expectedOwner]; nothing has changed then. */
    fun unlock(expectedOwner: Any?): Outcome {
        if (expectedOwner == null && WORD.compareAndSet(this, HELD, FREE)) return Outcome.DONE
        return decide { unlockUnderLock(expectedOwner) }
    }

    private fun unlockUnderLock(expectedOwner: Any?): Outcome {
        while (true) {
            when (word) {
                FREE -> return Outcome.REFUSED
                HELD -> {
                    if (expectedOwner != null) return Outcome.REFUSED
                    if (WORD.compareAndSet(this, HELD, FREE)) return Outcome.DONE
                }
                else -> {
                    if (owner !== expectedOwner) return Outcome.REFUSED
                    handOff()
                    return Outcome.DONE
                }
            }
        }
    }

    /** Ends the current hold: the next waiter becomes the holder, or the mutex becomes free. Under the lock. */
    fun handOff() {
        owner = null
        grantedClause = null
        clearSoleHolder()
        noteSole(null)
        val next = queue.head()
        if (next == null) {
            word = FREE
            return
        }
        unlink(next)
        next.grantQueued()
        owner = next.owner
        grantedClause = next as? ClauseWaiter
        recordSoleHolder(next.holder)
        noteSole(next.caller)
        updateWord()
        wake(next)
    }

    /** Restores invariant 4 for a mutex that is held. Under the lock. */
    fun updateWord() {
        val isPlain = owner == null && queue.size == 0 && !hasKnownHolder()
        val newWord = if (isPlain) HELD else INFLATED
        if (word != newWord) word = newWord
    }

    /** Makes a held mutex INFLATED until [updateWord] or [handOff]; false when it is free. Under the lock. */
    fun inflate(): Boolean {
        while (true) {
            when (word) {
                FREE -> return false
                HELD -> if (WORD.compareAndSet(this, HELD, INFLATED)) return true
                else -> return true
            }
        }
    }

    /** Enqueues [waiter], which is WAITING already, or hands it the mutex if that is free. Under the lock. */
    fun requeue(waiter: Waiter) {
        noteWaitAnew(waiter)
        while (true) {
            val isHeld = inflate()
            if (!isHeld && !WORD.compareAndSet(this, FREE, INFLATED)) continue
            addWaiter(waiter)
            if (!isHeld) handOff()
            return
        }
    }

    override fun isQueued(waiter: Waiter): Boolean = queue.contains(waiter)

    override fun removeWithdrawn(waiter: Waiter) {
        unlink(waiter)
        updateWord()
    }

    override fun takeBack(waiter: Waiter) {
        while (true) {
            when (word) {
                FREE -> return // Another caller has unlocked it by mistake.
                HELD -> if (WORD.compareAndSet(this, HELD, FREE)) return
                else -> {
                    if (owner === waiter.owner) handOff()
                    return
                }
            }
        }
    }

    override fun label(): String = labelOf("Mutex", mutex.name)

    override fun toString(): String = mutex.toString()

    override fun verbOf(waiter: Waiter): String = "lock"

    override fun failure(waiter: Waiter): Throwable = lockedTwice(waiter.outcome!!)

    fun lockedTwice(owner: Any): IllegalStateException =
        IllegalStateException("${label()} is already locked by ${nameOf(owner)}")

    internal enum class Outcome {
        DONE,
        BUSY,
        REFUSED,
    }

    private companion object {
        private const val FREE = 0
        private const val HELD = 1
        private const val INFLATED = 2

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(MutexCore::class.java, "word", Int::class.javaPrimitiveType)
    }
}

/** The owner for which it asks for the mutex, or null. */
private val Waiter.owner: Any?
    get() = request
