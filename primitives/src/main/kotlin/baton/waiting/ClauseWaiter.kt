package baton.waiting

import baton.InternalBatonApi
import baton.waiting.threads.Trampoline

/**
 * A waiting clause of a `select`. The granting thread offers the grant to the select by [resume], when the lock is
 * free; the select accepts it, or refuses because another clause has won.
 * 1. Until the select has decided, the grant belongs to the granting thread or to the clause. If the grant [isOffered],
 *    it is the granting thread's: after a refusal that thread goes on to the next waiter, or waits itself, and its own
 *    operation has not ended before. Otherwise the grant is the clause's. A select without a dispatcher would run on
 *    the granting thread's stack. It is offered nothing where that stack would grow too deep ([canBeAsked]).
 * 2. A clause that was granted and lost, or whose select was cancelled, keeps nothing. The select disposes of it before
 *    the select's caller goes on ([lose]), and the granting thread is refused: GRANTED to RETURNED decides, under the
 *    core's lock, which of the two passes the grant on, and neither goes on before that is done.
 * 3. A select that accepted and was cancelled before it ran undoes the grant ([undo]), once. It may also dispose of the
 *    clause first; that does not touch what [isOffered], because a select that refused disposes of its clauses too.
 * 4. A select that runs takes its grant by GRANTED to TAKEN ([take]). After a dispatcher threw, it is unknown whether
 *    the select will run; that compare-and-set then decides between the select and the granting thread.
 *
 * @property selectId the select.
 */
@InternalBatonApi
public abstract class ClauseWaiter(core: WaitCore, number: Int, request: Any?, final override val selectId: Any) :
    Waiter(core, number, request) {
    /** Written under the lock, before the clause is granted. */
    @JvmField public var isOffered: Boolean = false

    /** Whether the granting thread has taken the element that this clause sends. As [isOffered]. */
    @JvmField public var isSent: Boolean = false

    override fun describe(): String = "a select"

    final override val confirms: Boolean
        get() = true

    /** Whether [other] is an earlier waiter of the same clause of the same select, which has registered again. */
    internal open fun isSameClause(other: Waiter): Boolean = false

    /** Whether this thread may offer a grant: a select that then runs on its stack must find room there. */
    internal open val canBeAsked: Boolean
        get() = !resumesOnCallersStack || Trampoline.hasRoom

    /** Whether the select accepts what it [isOffered]. If not, the grant is the caller's again. */
    internal fun accepts(): Boolean {
        val isAccepted = if (resumesOnCallersStack) Trampoline.nested { resume() } else resume()
        if (isAccepted || !tryReturn()) return true
        refused()
        return false
    }

    /** The select lost this clause, or was cancelled. Its grant has been passed on when this returns. */
    protected fun lose() {
        if (withdraw(CANCELLED) == GRANTED && !isOffered) undo()
    }

    /** The select, which this clause had won, does not run. */
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
