package baton.waiting.boost

import baton.waiting.BoundedBypass
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.Wakeup
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.Dispatchers

/*
 * How it works
 *
 * Who holds a lock is lifted to the level of the most urgent of those who wait for it (priority inheritance: Sha,
 * Rajkumar, Lehoczky, 1990), through the hook that its dispatcher offers (baton.Boosting).
 *
 *   core, under its lock:  enter, leave, joins, leaves ─▶ what is wanted ─▶ unsettled is not empty
 *   after the lock:        one thread at a time takes a holding out of unsettled, lifts it, puts it back
 *
 *   waiting      how many wait at each level, of those that have one
 *   settled      those who hold, each lifted to settledAt
 *   unsettled    those who hold and may be lifted to another level; and those who hold no more, but are still lifted
 *   settledAt    the level that is wanted: the most urgent of `waiting`, as it was at the end of the last decision
 *
 * (1) Who holds is noted in the very decision that makes it the holder (readers let in together: before they are
 *     woken), and forgotten in the one that ends that. For that a lock with a noted holder has no fast path: see the
 *     word of each core. So nothing has to be looked at twice.
 * (2) Boosts are given and ended after the lock, for they are foreign code. At the end of every decision isDue()
 *     looks whether something is unsettled and nobody is at work. If so, the deciding thread is (isAtWork), until it
 *     finds under the lock that nothing is unsettled. Hence: while the lock is free and nobody is at work, all is
 *     settled.
 * (3) A holding that somebody lifts right now (isBusy) stands in no ring. Whoever comes to hold or leaves meanwhile
 *     only marks it; it is looked at again when it is put back. So a boost that came too late is ended at once.
 * (4) Who works is the first to be woken (WaitCore.prepareBoosts): before any coroutine, so that a new holder is
 *     dispatched at the level it is lifted to, and before any code of users, which may take its time.
 * (5) After STEPS steps the rest is done elsewhere: what other threads do to the lock does not keep this one for
 *     ever.
 *
 * All of this is guarded by the lock of the core, but for a holding that is busy: it belongs to who is at work.
 *
 * Levels are those at which the waiters began to wait. So of a chain of locks (A holds the first and waits for the
 * second, which B holds) the last holder is lifted with the first one if A was lifted before it began to wait, but
 * not after that.
 */
internal class PriorityInheritance(private val core: WaitCore) : Wakeup() {
    private val waiting = IntArray(BoundedBypass.LEVELS)
    private val settled = Ring()
    private val unsettled = Ring()
    private var settledAt = NONE
    private var isAtWork = false
    private var holders = 0

    /** Of a lock that one alone can hold, or of which one alone can hold the part that counts. */
    private var sole: BoostableHolder? = null

    val hasHolder: Boolean get() = holders > 0

    val hasSole: Boolean get() = sole != null

    fun enter(holding: BoostableHolder) {
        holding.isIn = true
        holders++
        if (settledAt == NONE) settled.add(holding) else unsettled.add(holding)
    }

    /** To leave again changes nothing. */
    fun leave(holding: BoostableHolder) {
        if (!holding.isIn) return
        holding.isIn = false
        holders--
        if (!holding.isBusy) putBack(holding)
    }

    fun enterAlone(context: CoroutineContext) {
        leaveAlone()
        sole = BoostableHolder(context).also(::enter)
    }

    fun leaveAlone() {
        sole?.let(::leave)
        sole = null
    }

    /** The one that holds it alone, who goes on holding it in another way. */
    fun takeSole(): BoostableHolder? = sole.also { sole = null }

    fun count(level: Int, change: Int) {
        waiting[level] += change
    }

    /** At the end of a decision: whether there is work for the thread that has decided. */
    fun isDue(): Boolean {
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
        Dispatchers.Default.dispatch(EmptyCoroutineContext) { arrive() }
        return null
    }

    /** False when all is settled. */
    private fun step(): Boolean {
        core.lock()
        val holding = next()
        val level = if (holding?.isIn == true) settledAt else NONE
        isAtWork = holding != null
        core.unlock()
        if (holding == null) return false
        holding.lift(level)
        core.lock()
        holding.isBusy = false
        putBack(holding)
        core.unlock()
        return true
    }

    private fun next(): BoostableHolder? {
        while (true) {
            val holding = unsettled.first ?: return null
            holding.unlink()
            if (holding.isIn && holding.level == settledAt) {
                settled.add(holding)
            } else {
                holding.isBusy = true
                return holding
            }
        }
    }

    /** Into the ring that is right for it, or into none. */
    private fun putBack(holding: BoostableHolder) {
        holding.unlink()
        when {
            !holding.isIn -> if (holding.isLifted) unsettled.add(holding)
            holding.level == settledAt -> settled.add(holding)
            else -> unsettled.add(holding)
        }
    }

    companion object {
        private const val STEPS = 1000

        /** No level: nobody waits, or not with one; or nobody is lifted. */
        const val NONE = -1
    }
}

private val WaitCore.anInheritance: PriorityInheritance
    get() = inheritance ?: PriorityInheritance(this).also { inheritance = it }

// What the cores do. All of it is called under the lock.

/** [waiter] waits from now on. */
internal fun WaitCore.joins(waiter: Waiter) {
    val level = waiter.urgency.toInt()
    if (level != PriorityInheritance.NONE) anInheritance.count(level, 1)
}

/** [waiter] waits no more. */
internal fun WaitCore.leaves(waiter: Waiter) {
    val level = waiter.urgency.toInt()
    if (level != PriorityInheritance.NONE) anInheritance.count(level, -1)
}

/** Those who waited at these [levels] wait no more. */
internal fun WaitCore.leaveTogether(levels: IntArray) {
    for (level in levels.indices) inheritance?.count(level, -levels[level])
}

/** The coroutine of [context] holds it now, alone; null is somebody who cannot be lifted. */
internal fun WaitCore.holds(context: CoroutineContext?) {
    if (context != null) anInheritance.enterAlone(context) else inheritance?.leaveAlone()
}

/** Whoever held it alone holds it no more. */
internal fun WaitCore.holdsNoMore() {
    inheritance?.leaveAlone()
}

/** One of several holders. */
internal fun WaitCore.enters(holding: BoostableHolder) {
    anInheritance.enter(holding)
}

/** It holds it no more, if it did. */
internal fun WaitCore.goes(holding: BoostableHolder) {
    inheritance?.leave(holding)
}
