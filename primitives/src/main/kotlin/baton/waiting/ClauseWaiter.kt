package baton.waiting

import baton.waiting.coroutine.Trampoline

/**
 * A clause of a `select` that waits. Its select decides whether it still wants what the clause is granted: the thread
 * that grants asks it by [resume], when the lock is free.
 *
 * (1) Before the answer, what was granted is in the hands of the asking thread or of the clause. If it [isOffered], the
 *     asking thread keeps it: after a refusal that thread goes on to the next waiter, or waits itself, and its own
 *     operation has not ended before. Otherwise the clause has it.
 *     A select without a dispatcher, which would run on the stack of the asking thread, is not offered anything where
 *     that stack would grow too deep ([canBeAsked]).
 * (2) A clause that was granted something and lost, or whose select was cancelled, leaves nothing behind. The select
 *     disposes of it before the select's caller goes on ([lose]), and the asking thread is refused: GRANTED to RETURNED
 *     decides which of the two passes the grant on, under the core's lock, so that neither goes on before that is done.
 * (3) A select that said yes and was cancelled before it ran undoes it ([undo]), once. It may also dispose of the clause
 *     first; that does not touch what [isOffered], because a select that refused disposes of its clauses too.
 * (4) A select that runs takes what it was granted by GRANTED to TAKEN ([take]). Where a dispatcher threw, it is unknown
 *     whether the select will run; that compare-and-set then decides between the select and the asking thread.
 *
 * @property selectId the select.
 */
@InternalBatonApi
public abstract class ClauseWaiter(core: WaitCore, weight: Int, tag: Any?, final override val selectId: Any) :
    Waiter(core, weight, tag) {
    /** Written under the lock, before the clause is granted. */
    @JvmField public var isOffered: Boolean = false

    /** Whether the element that it sends was taken by the thread that asked. As [isOffered]. */
    @JvmField public var isSent: Boolean = false

    final override val confirms: Boolean get() = true

    /** Whether [other] is a waiter of the same clause of the same select, which registers again. */
    internal open fun isSameClause(other: Waiter): Boolean = false

    /** Whether its select can be asked by this thread: one that then runs on its stack must find room there. */
    internal open val canBeAsked: Boolean get() = !resumesOnCallersStack || Trampoline.hasRoom

    /** Whether the select accepts what it [isOffered]. If not, the caller goes on with that. */
    internal fun accepts(): Boolean {
        val isAccepted = if (resumesOnCallersStack) Trampoline.nested { resume() } else resume()
        if (isAccepted || !tryReturn()) return true
        refused()
        return false
    }

    /** The select lost this clause, or was cancelled. What the clause was granted has gone on when this returns. */
    protected fun lose() {
        if (withdraw(CANCELLED) == GRANTED && !isOffered) undo()
    }

    /** The select that this clause had won does not run. */
    protected fun undo() {
        core.reclaim(this)?.let(::wakeAll)
    }

    /** The select runs with this clause. False when the grant was returned. */
    protected fun take(): Boolean {
        if (!tryTake()) return false
        core.arrived(this)
        return true
    }
}
