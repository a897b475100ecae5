package baton.waiting.holders

import baton.waiting.BoundedBypass
import baton.waiting.KnownHolders
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.holders.Holder.Companion.NO_LEVEL
import baton.waiting.threads.requireStack
import baton.waiting.threads.runOnDefault
import baton.waiting.wakeAll

/*
 * How it works
 *
 * A core records who holds it, for two reasons: a holder is boosted to the level of the most urgent waiter (priority
 * inheritance: Sha, Rajkumar, Lehoczky, 1990), through the hook that its dispatcher offers (baton.Boosting); and deadlocks
 * are found (DeadlockDetection).
 *
 *   core, under its lock:  enter, leave, count ─▶ the wanted level ─▶ unsettled is not empty
 *   after the lock:        one thread at a time takes a holder out of unsettled, boosts it, puts it back
 *
 *   waiting      the number of waiters at each level, of those that have a level
 *   settled      holders, each boosted to settledAt or, if they cannot be boosted, not at all
 *   unsettled    holders that may need another level; and callers that hold no more, but are still boosted
 *   busy         the holder whose boost a thread changes. It is in neither ring
 *   settledAt    the wanted level: the most urgent of `waiting`, as it was at the end of the last decision
 *
 * (1) A holder is recorded in the decision that makes it the holder, and removed in the one that ends that. So a lock with
 *     a recorded holder has no fast path: see the word of each core.
 * (2) Every recorded holder holds the lock; callers that share an owner count as one. A caller that holds the lock need not
 *     be recorded: one that can be neither boosted nor reported, and an anonymous reader after an unlock that could have
 *     been another's.
 * (3) Boosts begin and end after the lock, for they are foreign code. At the end of every decision isDue() checks whether
 *     a holder is unsettled and no thread is at work. If so, the deciding thread works (isAtWork) until it finds, under
 *     the lock, that none is unsettled. Hence: while the lock is free and no thread works, all holders are settled.
 * (4) A decision that makes the busy holder hold or leave only marks it; the working thread looks at it again when it puts
 *     it back. So a boost that came too late is ended at once.
 * (5) The work is the first wake-up (WaitCore.prepareBoosts): before any coroutine, so that a new holder is dispatched at
 *     its boosted level, and before any user code, which may take its time.
 * (6) After STEPS steps the rest of the work is dispatched, so that other threads' use of the lock cannot keep this thread
 *     for ever.
 *
 * The lock of the core guards all of this, but for the boost of the busy holder: it belongs to the working thread.
 *
 * A waiter counts at the level at which it began to wait. So in a chain of locks (A holds the first and waits for the
 * second, which B holds) B is boosted with A if A was boosted before it began to wait, but not after that.
 */
internal class Holders(private val core: WaitCore) : KnownHolders() {
    private val waiting = IntArray(BoundedBypass.LEVELS)
    private val settled = HolderRing()
    private val unsettled = HolderRing()
    private var busy: Holder? = null
    private var settledAt = NO_LEVEL
    private var isAtWork = false
    private var isListed = false
    private var size = 0

    /** The holder of a lock that has at most one, or of its exclusive part. */
    var sole: Holder? = null
        private set

    val isEmpty: Boolean
        get() = size == 0

    fun enter(holder: Holder) {
        holder.isIn = true
        holder.noteHold()
        size++
        place(holder)
    }

    /** Leaving again changes nothing. */
    fun leave(holder: Holder) {
        if (!holder.isIn) return
        holder.isIn = false
        size--
        place(holder)
    }

    /** [holder] replaces the sole holder. */
    fun enterAlone(holder: Holder?) {
        sole?.let(::leave)
        sole = holder
        holder?.let(::enter)
    }

    /** The sole holder goes on as a reader, with an owner or an anonymous one. */
    fun takeSole(isAnonymous: Boolean): Holder? {
        val holder = sole ?: return null
        sole = null
        holder.isAnonymous = isAnonymous
        if (isAnonymous && !DeadlockDetection.isOn) leave(holder) else place(holder)
        return holder
    }

    /**
     * Called where deadlocks are looked for. If the anonymous readers are not all of one coroutine, or one of them is
     * not recorded, it is unknown whose hold has ended, and none of them stays recorded.
     *
     * @param unowned how many readers without an owner there were.
     */
    fun leaveAnonymously(unowned: Int) {
        var tokens = 0
        val known = ArrayList<Holder>(0)
        forEach { if (it.isAnonymous) known += it else if (it.isToken && it.owner == null) tokens++ }
        val last = known.lastOrNull() ?: return
        val isOneCoroutine = last.job != null && known.all { it.job === last.job }
        if (isOneCoroutine && known.size == unowned - tokens) leave(last) else known.forEach(::leave)
    }

    fun forEach(action: (Holder) -> Unit) {
        settled.forEach(action)
        unsettled.forEach { if (it.isIn) action(it) }
        busy?.let { if (it.isIn) action(it) }
    }

    fun count(level: Int, change: Int) {
        if (level != NO_LEVEL) waiting[level] += change
    }

    /** Whether the core must be added to the [DeadlockDetection]: the first time. */
    fun markListed(): Boolean = !isListed.also { isListed = true }

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

    /** Invariant 3. No lock is held. */
    override fun arrive(): Wakeup? {
        repeat(STEPS) { if (!step()) return null }
        runOnDefault { wakeAll(this) }
        return null
    }

    /** False when all are settled. If it throws, the next call goes on where this one has stopped. */
    private fun step(): Boolean {
        requireStack()
        var level = NO_LEVEL
        val holder =
            core.plainly {
                putBusyBack()
                firstUnsettled().also {
                    if (it != null) level = wantedFor(it)
                    it?.unlink()
                    busy = it
                    isAtWork = it != null
                }
            }
        holder?.boost(level)
        return holder != null
    }

    private fun putBusyBack() {
        val holder = busy ?: return
        busy = null
        place(holder)
    }

    private fun firstUnsettled(): Holder? {
        while (true) {
            val holder = unsettled.first ?: return null
            if (holder.level != wantedFor(holder)) return holder
            place(holder)
        }
    }

    /** Moves [holder] into the ring where it belongs, or into none. */
    private fun place(holder: Holder) {
        if (holder === busy) return
        holder.unlink()
        if (holder.level != wantedFor(holder)) unsettled.add(holder) else if (holder.isIn) settled.add(holder)
    }

    private fun wantedFor(holder: Holder) = if (holder.isIn && holder.canBeBoosted) settledAt else NO_LEVEL

    private companion object {
        private const val STEPS = 1000
    }
}

/** The known holders of this core, where there may be some. */
internal val WaitCore.holders: Holders?
    get() = knownHolders as Holders?

/**
 * The [holders] of a core that a caller is about to ask for its lock. Called outside its decisions: so the decision
 * that grants the lock allocates nothing to record the holder.
 */
internal fun WaitCore.prepareHolders(): Holders {
    holders?.let {
        return it
    }
    val new = Holders(this)
    return plainly { holders ?: new.also { knownHolders = it } }
}

// Called by the cores, under the lock.

/** Whether a holder is recorded, so that its unlock must take the lock. */
internal fun WaitCore.hasKnownHolder(): Boolean = holders?.isEmpty == false

/** [waiter] begins to wait. */
internal fun WaitCore.countWaiter(waiter: Waiter) {
    val caller = waiter.holder ?: return
    holders?.count(caller.urgency, 1)
}

/** [waiter] waits no more. */
internal fun WaitCore.uncountWaiter(waiter: Waiter) {
    val caller = waiter.holder ?: return
    holders?.count(caller.urgency, -1)
}

/** The waiters counted in [levels] wait no more. */
internal fun WaitCore.uncountWaiters(levels: IntArray) {
    for (level in levels.indices) holders?.count(level, -levels[level])
}

/** A reader without an owner has unlocked without a token; there were [unowned] readers. */
internal fun WaitCore.removeAnonymous(unowned: Int) {
    if (DeadlockDetection.isOn) holders?.leaveAnonymously(unowned)
}

/** The lock is held alone [by] this caller now; null if it is not known, or if no caller holds the lock. */
internal fun WaitCore.recordSole(by: Holder?) {
    holders?.enterAlone(by)
}

/** As [recordSole], of a caller that held the lock before, perhaps recorded by another call. */
internal fun WaitCore.recordUpgraded(by: Holder?) {
    val before = holders?.sole
    if (by != null && (before == null || by.canBeBoosted && !before.canBeBoosted)) recordSole(by)
}
