package baton.waiting

import baton.InternalBatonApi
import baton.waiting.threads.Timeouts

/**
 * An action that a decision of a core leaves for when the lock is free: most often a [Waiter] to resume, but also a
 * batch of them, or a call of users' code. The wake list of [WaitCore] links them through [chain].
 */
@InternalBatonApi
public abstract class Wakeup {
    /** The next entry of the wake list. Guarded by the lock of the core, then the waking thread's. */
    @JvmField internal var chain: Wakeup? = null

    /** Runs without a lock. Returns the first of those to wake next, because a grant found no receiver; or null. */
    internal abstract fun arrive(): Wakeup?

    /**
     * As [arrive], for a waiter whose dispatcher never runs a block in place, so that any thread may wake it. False if
     * that is not known; then nothing has happened. Few calls lie between the operation of a primitive and the
     * dispatcher this way: the JIT compiler inlines fifteen levels, and the dispatcher's are to be among them.
     */
    internal open fun arriveAtOnce(): Boolean = false
}

/**
 * Wakes a chain, and those that come in because one of them did not take its grant: in a loop, so that a million lost
 * grants in a row need no stack. No lock is held.
 *
 * An entry may run user code in place. So a chain is not woken on the timer thread that all coroutines share, where a
 * `withTimeout` cancels.
 */
internal fun wakeAll(first: Wakeup) {
    if (Rewaking.isInUse) Rewaking.resumePaused()
    if (first.chain == null && orAgain(first, true) { first.arriveAtOnce() }) return
    if (Timeouts.isOnSharedTimer()) Timeouts.offSharedTimer { wakeHere(first) } else wakeHere(first)
}

private fun wakeHere(first: Wakeup) {
    var next: Wakeup? = first
    while (next != null) {
        val entry: Wakeup = next
        next = entry.chain
        entry.chain = null
        val more = orAgain(entry, null) { if (entry.arriveAtOnce()) null else entry.arrive() } ?: continue
        var last: Wakeup = more
        while (true) last = last.chain ?: break
        last.chain = next
        next = more
    }
}

/** An exception of a wake-up, such as a stack overflow, must not keep the others from being woken. */
private inline fun <T> orAgain(entry: Wakeup, otherwise: T, arrival: () -> T): T =
    try {
        arrival()
    } catch (e: Throwable) {
        Rewaking(entry).begin(e)
        otherwise
    }
