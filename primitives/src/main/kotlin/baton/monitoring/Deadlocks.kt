package baton.monitoring

import baton.monitoring.core.DeadlockSearch
import baton.monitoring.core.WaitForGraph
import baton.waiting.holders.DeadlockDetection

/**
 * Finds callers that wait for each other's locks: coroutines, blocked threads, and futures that name an owner.
 *
 * Off by default, and then it costs nothing. `-Dbaton.deadlocks=true` turns it on, or [enable] while the program runs:
 * each lock of a `Mutex`, a `Semaphore` with one permit or a `ReadWriteLock` then notes the caller and a stack trace.
 *
 * ```
 * for (deadlock in Deadlocks.find()) log(deadlock)      // when a program hangs, or by a Monitor, which raises an alert
 * ```
 *
 * *What is reported.* A cycle that has stood unchanged for a second, also by the first call. If the begin of one of its
 * waits or holds was not noted, the second counts from the first call that sees the cycle. One that has dissolved is
 * not reported any more. Of cycles that share a waiter, one.
 *
 * *Who is who.* A coroutine is known by its `Job`; a wait counts for every `Job` above it that holds something, with
 * "through its child" in the report, because whether a parent waits for its child cannot be known. Where a caller has
 * no `Job`, it is known by its owner: a future, a `tryLock(owner)`. A thread that blocks is known by itself.
 *
 * *Limits.* Some cycles are not found: through a `select`, whose caller may go on by another clause; through a call
 * with neither a coroutine nor an owner, such as `tryLock()` or a future; through readers that call `unlockRead()`
 * without an owner while others do so, too (those of `withRead` are told apart). A lock of one permit that is used as a
 * signal, acquired again by its holder until another caller releases it, looks like a cycle of one.
 *
 * *Cost.* One call looks at each lock at which a caller has ever waited, under its internal lock, one at a time. It is
 * linear in the callers that wait and hold.
 *
 * *Memory.* It keeps no lock in memory.
 *
 * May be called from any thread.
 */
public object Deadlocks {
    private val search = DeadlockSearch(isClockOfNotes = true)

    /** Whether holders and waits are noted. */
    @JvmStatic
    public val isEnabled: Boolean
        get() = DeadlockDetection.isOn

    /**
     * Notes holders and waits from now on, until the program ends. Callers that hold or wait for a lock already stay
     * unknown, so a deadlock that stands is not found, but the next one of its kind is.
     */
    @JvmStatic
    public fun enable() {
        DeadlockDetection.begin()
    }

    /** The deadlocks that stand now and have stood for a second; none while it is not [isEnabled]. */
    @JvmStatic public fun find(): List<Deadlock> = if (isEnabled) search.find() else emptyList()

    /** The look of a monitor counts as a call of [find]. */
    @JvmSynthetic
    internal fun look(graph: WaitForGraph) {
        search.find(graph)
    }
}
