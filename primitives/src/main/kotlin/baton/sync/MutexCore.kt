package baton.sync

import baton.waiting.ClauseWaiter
import baton.waiting.FifoWaitQueue
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.boost.holds
import baton.waiting.boost.holdsNoMore
import baton.waiting.boost.joins
import baton.waiting.boost.leaves
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import kotlin.coroutines.CoroutineContext

/*
 * How it works
 *
 *            lock()              somebody waits, or locks with an owner, or can be lifted
 *   FREE ◀──────────▶ HELD ◀──────────────────────────────────────────────────────────────▶ INFLATED
 *            unlock()            nobody waits, and no owner, and no holder noted
 *
 *   FREE      nobody holds it; nobody waits
 *   HELD      held without an owner; nobody waits
 *   INFLATED   held; who holds it and who waits is written under the lock
 *
 * (1) FREE ⇄ HELD is one compare-and-set by anybody, without the lock. All other changes are made under the lock.
 * (2) In INFLATED, `owner`, `line` and the holder that the PriorityInheritance has noted are exact under the lock, and one of
 *     them is there. So who reads the word and, if it is INFLATED, the rest under the lock, sees one consistent state.
 * (3) unlock with waiters leaves INFLATED (or HELD, see 4) in place and only replaces the holder: the mutex is never
 *     free between two holders, nobody slips in.
 * (4) As soon as neither owner nor waiter nor noted holder is left, the word goes back to HELD or FREE, and with it
 *     the fast path.
 * (5) Conditions decide under the same lock: see ConditionCore for what they do with this line.
 */
internal class MutexCore(locked: Boolean, private val label: () -> String) : WaitCore() {
    @Volatile
    private var word: Int = if (locked) HELD else FREE

    // Guarded by the lock, and meaningful while INFLATED.
    var owner: Any? = null
        private set
    private val line = FifoWaitQueue()

    /** The clause of a select by which [owner] holds it, perhaps without having heard of that. */
    private var granted: ClauseWaiter? = null

    val isLocked: Boolean get() = word != FREE

    val holder: Any? get() = if (word == INFLATED) decide { owner } else null

    val waiting: Int get() = if (word == INFLATED) decide { line.size } else 0

    /** [by] is the coroutine that comes to hold it, if it can be lifted. */
    fun tryLock(newOwner: Any?, by: CoroutineContext? = null): Outcome =
        when {
            newOwner != null || by != null -> decide { lockInside(newOwner, by) }
            WORD.compareAndSet(this, FREE, HELD) -> Outcome.DONE
            else -> Outcome.BUSY
        }

    /** Under the lock. BUSY means INFLATED: nobody unlocks without the lock any more. */
    private fun lockInside(newOwner: Any?, by: CoroutineContext?): Outcome {
        while (true) {
            when (word) {
                FREE ->
                    if (WORD.compareAndSet(this, FREE, if (newOwner == null && by == null) HELD else INFLATED)) {
                        owner = newOwner
                        if (by != null) holds(by)
                        return Outcome.DONE
                    }
                HELD -> return Outcome.BUSY
                else -> return if (newOwner != null && owner === newOwner) Outcome.REFUSED else Outcome.BUSY
            }
        }
    }

    override fun enqueue(waiter: Waiter): Int {
        waiter.look()
        return decide { enqueueInside(waiter) }
    }

    private fun enqueueInside(waiter: Waiter): Int {
        while (true) {
            val outcome = lockInside(waiter.tag, waiter.holder)
            when (if (outcome == Outcome.REFUSED && isRivalOfGranted(waiter)) Outcome.BUSY else outcome) {
                Outcome.DONE -> if (!waiter.tryGrant()) takeBack(waiter)
                Outcome.REFUSED -> if (returnsOwnGrant(waiter)) continue else waiter.tryFail(waiter.tag!!)
                Outcome.BUSY -> {
                    if (word != INFLATED && !WORD.compareAndSet(this, HELD, INFLATED)) continue
                    if (waiter.startWaiting()) {
                        // From here on a canceller may resume it: its state must not be read again, or both would.
                        join(waiter)
                        return Waiter.WAITING
                    }
                    settle()
                }
            }
            return waiter.currentState
        }
    }

    /**
     * A select that was granted the mutex while it registered has its clause enqueue again, perhaps before the thread
     * that granted has heard that. Its owner then holds the mutex only by the clause's former waiter.
     */
    private fun returnsOwnGrant(waiter: Waiter): Boolean {
        val former = granted ?: return false
        if (!former.isSameClause(waiter) || !former.tryReturn()) return false
        passOn()
        return true
    }

    /** Whether [waiter] is another clause of the select that holds it, or is about to: one of the two loses. */
    private fun isRivalOfGranted(waiter: Waiter): Boolean {
        val holding = granted ?: return false
        return holding.selectId === waiter.selectId &&
            !holding.isSameClause(waiter) &&
            holding.currentState == Waiter.GRANTED
    }

    private fun join(waiter: Waiter) {
        line.add(waiter)
        joins(waiter)
    }

    private fun unlink(waiter: Waiter) {
        line.remove(waiter)
        leaves(waiter)
    }

    /** REFUSED when it is not held, or not by [by]; nothing has changed then. */
    fun unlock(by: Any?): Outcome {
        if (by == null && WORD.compareAndSet(this, HELD, FREE)) return Outcome.DONE
        return decide { unlockInside(by) }
    }

    private fun unlockInside(by: Any?): Outcome {
        while (true) {
            when (word) {
                FREE -> return Outcome.REFUSED
                HELD -> {
                    if (by != null) return Outcome.REFUSED
                    if (WORD.compareAndSet(this, HELD, FREE)) return Outcome.DONE
                }
                else -> {
                    if (owner !== by) return Outcome.REFUSED
                    passOn()
                    return Outcome.DONE
                }
            }
        }
    }

    /** Whoever holds it holds it no more: the next one does, or nobody. Under the lock. */
    fun passOn() {
        owner = null
        granted = null
        holdsNoMore()
        while (true) {
            val next = line.head()
            if (next == null) {
                word = FREE
                return
            }
            unlink(next)
            if (next.tryGrant()) {
                owner = next.tag
                granted = next as? ClauseWaiter
                holds(next.holder)
                settle()
                wake(next)
                return
            }
        }
    }

    /** Invariant 4, for a mutex that is held. Under the lock. */
    fun settle() {
        val settled = if (owner == null && line.size == 0 && inheritance?.hasHolder != true) HELD else INFLATED
        if (word != settled) word = settled
    }

    /** Makes it INFLATED until [settle] or [passOn], whoever holds it; false when nobody does. Under the lock. */
    fun guard(): Boolean {
        while (true) {
            when (word) {
                FREE -> return false
                HELD -> if (WORD.compareAndSet(this, HELD, INFLATED)) return true
                else -> return true
            }
        }
    }

    /**
     * Puts [waiter], who is waiting already, into the queue, or lets it in if nobody holds the mutex. Under the lock.
     */
    fun rejoin(waiter: Waiter) {
        while (true) {
            val isHeld = guard()
            if (!isHeld && !WORD.compareAndSet(this, FREE, INFLATED)) continue
            join(waiter)
            if (!isHeld) passOn()
            return
        }
    }

    override fun withdraw(waiter: Waiter) {
        decide { leave(waiter) }
    }

    /** Under the lock. */
    fun leave(waiter: Waiter) {
        if (!waiter.linked) return
        unlink(waiter)
        settle()
    }

    override fun takeBack(waiter: Waiter) {
        while (true) {
            when (word) {
                FREE -> return // somebody unlocked what was not theirs
                HELD -> if (WORD.compareAndSet(this, HELD, FREE)) return
                else -> {
                    if (owner === waiter.tag) passOn()
                    return
                }
            }
        }
    }

    override fun failure(waiter: Waiter): Throwable = lockedTwice(waiter.reason!!)

    fun lockedTwice(by: Any): IllegalStateException =
        IllegalStateException("${label()} is already locked by ${nameOf(by)}")

    internal enum class Outcome { DONE, BUSY, REFUSED }

    private companion object {
        private const val FREE = 0
        private const val HELD = 1
        private const val INFLATED = 2

        private val WORD: VarHandle =
            MethodHandles.lookup().findVarHandle(MutexCore::class.java, "word", Int::class.javaPrimitiveType)
    }
}
