package baton.waiting

import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectInstance

/**
 * What a clause of a `select` does. kotlinx calls [register] for a clause that joins (again, with the same clause, when
 * a grant came while the select was still registering), [result] for the one that won, and [undo] when the select that
 * it won was cancelled before it ran.
 */
@InternalBatonApi
@OptIn(InternalCoroutinesApi::class)
public abstract class Selectable {
    public abstract fun register(clause: Any, select: SelectInstance<*>, param: Any?)

    /** What the clause's block gets, or throws what [register] refused. */
    public abstract fun result(result: Any?): Any?

    public abstract fun undo(result: Any?)
}

/** A clause that waits at a core as everybody else does. */
@OptIn(InternalCoroutinesApi::class)
internal abstract class SelectableCore : Selectable() {
    /** The waiter for [param], or throws because the request can never succeed. */
    protected abstract fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter

    /** What the clause's block gets. */
    protected abstract fun valueOf(winner: SelectWaiter): Any?

    final override fun register(clause: Any, select: SelectInstance<*>, param: Any?) {
        val waiter =
            try {
                waiter(clause, select, param)
            } catch (e: RuntimeException) {
                // Thrown from here, it would leave the clauses registered before this one behind.
                select.selectInRegistrationPhase(Refused(e))
                return
            }
        when (waiter.core.enqueue(waiter, announced = false)) {
            Waiter.WAITING -> select.disposeOnCompletion(waiter)
            else -> select.selectInRegistrationPhase(waiter)
        }
    }

    override fun result(result: Any?): Any? {
        if (result is Refused) throw result.why
        val winner = result as SelectWaiter
        winner.take()
        return valueOf(winner)
    }

    final override fun undo(result: Any?) {
        if (result is SelectWaiter && result.currentState == Waiter.GRANTED) result.core.giveBack(result)
    }

    private class Refused(val why: RuntimeException)
}

/**
 * A clause of a select that waits. Whether it still does is for the select to say, in [resume].
 *
 * @property offer what it brings with it once it has won.
 */
@OptIn(InternalCoroutinesApi::class)
internal class SelectWaiter(
    core: WaitCore,
    weight: Int,
    tag: Any?,
    private val clause: Any,
    private val select: SelectInstance<*>,
    internal val offer: Any? = null,
) : Waiter(core, weight, tag),
    DisposableHandle {
    private var taken = false

    override val party: Any get() = select

    override val coroutine: CoroutineContext get() = select.context

    override val resumesOnCallersStack: Boolean
        get() = select.context[ContinuationInterceptor] !is CoroutineDispatcher

    /** The select has run and this clause has won. */
    fun take() {
        taken = true
        if (currentState == FAILED) throw core.failure(this)
    }

    override fun resume(): Boolean =
        try {
            select.trySelect(clause, this)
        } catch (e: Throwable) {
            // Either the select's dispatcher would not run it, or it did run and its code threw past its completion.
            FlatStack.report(e)
            taken
        }

    override fun resumeFailed() {
        resume()
    }

    /** Another clause has won, or the select was cancelled. */
    override fun dispose() {
        withdraw(CANCELLED)
    }
}
