package baton.waiting.boost

import baton.waiting.BoostableCoroutine
import baton.waiting.BoundedBypass
import baton.waiting.HolderBoosts
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.threads.runOnDefault
import baton.waiting.wakeAll

/*
 * How it works
 *
 * The holder of a lock is boosted to the level of its most urgent waiter (priority inheritance: Sha, Rajkumar, Lehoczky,
 * 1990), through the hook that the holder's dispatcher offers (baton.Boosting).
 *
 *   core, under its lock:  enter, leave, countWaiter, uncountWaiter ─▶ the wanted level ─▶ unsettled is not empty
 *   after the lock:        one thread at a time takes a holder out of unsettled, boosts it, puts it back
 *
 *   waiting      the number of waiters at each level, of those that have a level
 *   settled      holders, each boosted to settledAt
 *   unsettled    holders that may need another level; and coroutines that hold no more, but are still boosted
 *   settledAt    the wanted level: the most urgent of `waiting`, as it was at the end of the last decision
 *
 * (1) A holder is recorded in the decision that makes it the holder (readers admitted together: before they are woken),
 *     and removed in the one that ends that. So a lock with a recorded holder has no fast path: see the word of each core.
 * (2) Boosts begin and end after the lock, for they are foreign code. At the end of every decision isDue() checks whether
 *     a holder is unsettled and no thread is at work. If so, the deciding thread works (isAtWork) until it finds, under
 *     the lock, that none is unsettled. Hence: while the lock is free and no thread works, all holders are settled.
 * (3) A holder whose boost a thread changes (isBusy) is in no ring. A decision that makes it hold or leave meanwhile only
 *     marks it; the working thread looks at it again when it puts it back. So a boost that came too late is ended at once.
 * (4) The work is the first wake-up (WaitCore.prepareBoosts): before any coroutine, so that a new holder is dispatched at
 *     its boosted level, and before any user code, which may take its time.
 * (5) After STEPS steps the rest of the work is dispatched, so that other threads' use of the lock cannot keep this thread
 *     for ever.
 *
 * The lock of the core guards all of this, except a holder that is busy: it belongs to the working thread.
 *
 * A waiter counts at the level at which it began to wait. So in a chain of locks (A holds the first and waits for the
 * second, which B holds) B is boosted with A if A was boosted before it began to wait, but not after that.
 */
internal class PriorityInheritance(private val core: WaitCore) : HolderBoosts() {
    private val waiting = IntArray(BoundedBypass.LEVELS)
    private val settled = Ring()
    private val unsettled = Ring()
    private var settledAt = NONE
    private var isAtWork = false
    private var holders = 0

    /** The holder of a lock that has at most one, or of its exclusive part. */
    private var sole: BoostableHolder? = null

    override val hasHolder: Boolean
        get() = holders > 0

    override val hasSole: Boolean
        get() = sole != null

    fun enter(holder: BoostableHolder) {
        holder.isIn = true
        holders++
        if (settledAt == NONE) settled.add(holder) else unsettled.add(holder)
    }

    /** Leaving again changes nothing. */
    fun leave(holder: BoostableHolder) {
        if (!holder.isIn) return
        holder.isIn = false
        holders--
        if (!holder.isBusy) putBack(holder)
    }

    fun enterAlone(coroutine: BoostableCoroutine) {
        leaveAlone()
        sole = BoostableHolder(coroutine).also(::enter)
    }

    fun leaveAlone() {
        sole?.let(::leave)
        sole = null
    }

    /** Takes out the sole holder, which goes on holding in another mode. */
    fun takeSole(): BoostableHolder? = sole.also { sole = null }

    fun count(level: Int, change: Int) {
        waiting[level] += change
    }

    override fun isDue(): Boolean {
        val wanted = waiting.indexOfFirst { it > 0 }
        if (wanted != settledAt) {
            settledAt = wanted
            unsettled.takeAll(settled)
        }
        if (isAtWork || unsettled.first == null) return false
        isAtWork = true
        return true
    }

    /** Invariant 2. No lock is held. */
    override fun arrive(): Wakeup? {
        repeat(STEPS) { if (!step()) return null }
        runOnDefault { wakeAll(this) }
        return null
    }

    /** False when all is settled. */
    private fun step(): Boolean {
        core.lock()
        val holder = next()
        val level = if (holder?.isIn == true) settledAt else NONE
        isAtWork = holder != null
        core.unlock()
        if (holder == null) return false
        holder.boost(level)
        core.lock()
        holder.isBusy = false
        putBack(holder)
        core.unlock()
        return true
    }

    private fun next(): BoostableHolder? {
        while (true) {
            val holder = unsettled.first ?: return null
            holder.unlink()
            if (holder.isIn && holder.level == settledAt) {
                settled.add(holder)
            } else {
                holder.isBusy = true
                return holder
            }
        }
    }

    /** Moves it into the ring where it belongs, or into none. */
    private fun putBack(holder: BoostableHolder) {
        holder.unlink()
        when {
            !holder.isIn -> if (holder.isBoosted) unsettled.add(holder)
            holder.level == settledAt -> settled.add(holder)
            else -> unsettled.add(holder)
        }
    }

    companion object {
        private const val STEPS = 1000

        /** No level: no waiter has one, or there is no boost. */
        const val NONE: Int = Waiter.NO_URGENCY.toInt()
    }
}

private val WaitCore.priorityInheritance: PriorityInheritance?
    get() = inheritance as PriorityInheritance?

private val WaitCore.inheritanceOrNew: PriorityInheritance
    get() = priorityInheritance ?: PriorityInheritance(this).also { inheritance = it }

// Called by the cores, under the lock.

/** [waiter] begins to wait. */
internal fun WaitCore.countWaiter(waiter: Waiter) {
    val level = waiter.urgency.toInt()
    if (level != PriorityInheritance.NONE) inheritanceOrNew.count(level, 1)
}

/** [waiter] waits no more. */
internal fun WaitCore.uncountWaiter(waiter: Waiter) {
    val level = waiter.urgency.toInt()
    if (level != PriorityInheritance.NONE) inheritanceOrNew.count(level, -1)
}

/** The waiters counted in [levels] wait no more. */
internal fun WaitCore.uncountWaiters(levels: IntArray) {
    for (level in levels.indices) priorityInheritance?.count(level, -levels[level])
}

/** [holder] is the sole holder now; null if the holder cannot be boosted. */
internal fun WaitCore.recordSoleHolder(holder: BoostableCoroutine?) {
    if (holder != null) inheritanceOrNew.enterAlone(holder) else priorityInheritance?.leaveAlone()
}

/** The sole holder, if any, holds no more. */
internal fun WaitCore.clearSoleHolder() {
    priorityInheritance?.leaveAlone()
}

/** The sole holder goes on holding in another mode, see [PriorityInheritance.takeSole]. */
internal fun WaitCore.takeSoleHolder(): BoostableHolder? = priorityInheritance?.takeSole()

/** Adds one of several holders. */
internal fun WaitCore.addHolder(holder: BoostableHolder) {
    inheritanceOrNew.enter(holder)
}

/** [holder] holds no more, if it did. */
internal fun WaitCore.removeHolder(holder: BoostableHolder) {
    priorityInheritance?.leave(holder)
}
