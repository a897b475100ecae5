package baton.waiting.coroutine

import baton.InternalBatonApi
import baton.waiting.ClauseWaiter
import baton.waiting.WaitCore
import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.threads.Trampoline
import baton.waiting.wakeAll
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.cancellation.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.selects.SelectInstance

/**
 * The actions of a clause of a `select`. kotlinx calls [register] when the clause joins (again, with the same clause,
 * when a grant came while the select was still registering), [result] when it has won, and [undo] when the select that
 * it won was cancelled before it ran.
 */
@InternalBatonApi
@OptIn(InternalCoroutinesApi::class)
public abstract class Selectable {
    public abstract fun register(clause: Any, select: SelectInstance<*>, param: Any?)

    /** Returns the parameter of the clause's block, or throws the exception with which [register] refused. */
    public abstract fun result(result: Any?): Any?

    public abstract fun undo(result: Any?)
}

/** A clause that waits at a core. */
@OptIn(InternalCoroutinesApi::class)
internal abstract class SelectableCore : Selectable() {
    /** Returns the waiter for [param], or throws because the request can never succeed. */
    protected abstract fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter

    /** The parameter of the clause's block. */
    protected abstract fun valueOf(winner: SelectWaiter): Any?

    final override fun register(clause: Any, select: SelectInstance<*>, param: Any?) {
        val waiter = orRefuse(select) { waiter(clause, select, param) } ?: return
        val state = orRefuse(select) { waiter.core.enqueue(waiter) } ?: return
        if (state == Waiter.WAITING) select.disposeOnCompletion(waiter) else select.selectInRegistrationPhase(waiter)
    }

    /** Null if [action] threw. Thrown from [register], it would leave the clauses registered before this one behind. */
    private inline fun <R : Any> orRefuse(select: SelectInstance<*>, action: () -> R): R? =
        try {
            action()
        } catch (e: Throwable) {
            select.selectInRegistrationPhase(Refused(e))
            null
        }

    override fun result(result: Any?): Any? {
        if (result is Refused) throw result.why
        val winner = result as SelectWaiter
        winner.run()
        return valueOf(winner)
    }

    final override fun undo(result: Any?) {
        if (result is SelectWaiter) result.cancelled()
    }

    private class Refused(val why: Throwable)
}

/** A clause of kotlinx.coroutines' `select` that waits. */
@OptIn(InternalCoroutinesApi::class)
internal class SelectWaiter(
    core: WaitCore,
    number: Int,
    request: Any?,
    private val clause: Any,
    private val select: SelectInstance<*>,
) : ClauseWaiter(core, number, request, selectId = select), DisposableHandle {
    /** The exception of the select's dispatcher. */
    private var refusal: Throwable? = null

    override val coroutine: CoroutineContext
        get() = select.context

    override val resumesOnCallersStack: Boolean
        get() = dispatcher == null

    private val dispatcher: CoroutineDispatcher?
        get() = select.context[ContinuationInterceptor] as? CoroutineDispatcher

    /** The thread that is inside [resume]. Other threads only compare it with themselves. */
    private var asker: Thread? = null

    /** Called when the select runs and this clause has won. Throws the core's failure. */
    fun run() {
        if (asker === Thread.currentThread()) dispatcher?.let { InPlace.note(it, select.context) }
        if (currentState == FAILED) throw core.failure(this)
        if (!take()) throw selectRefused(refusal)
    }

    override fun arrive(): Wakeup? {
        val dispatcher = dispatcher
        val isDeferred =
            InPlace.isInUse && dispatcher != null && InPlace.defer(dispatcher) { super.arrive()?.let(::wakeAll) }
        return if (isDeferred) null else super.arrive()
    }

    override val canBeAsked: Boolean
        get() = super.canBeAsked && !(InPlace.isInUse && dispatcher?.let(InPlace::isDeep) == true)

    override fun isSameClause(other: Waiter): Boolean =
        other is SelectWaiter && other.selectId === selectId && other.clause === clause

    private fun trySelect(): Boolean {
        if (currentState == RETURNED) return false
        asker = Thread.currentThread()
        return select.trySelect(clause, this).also { asker = null }
    }

    override fun resume(): Boolean =
        try {
            if (InPlace.isInUse) InPlace.nested(::trySelect) else trySelect()
        } catch (e: Throwable) {
            // The dispatcher threw, with the select in its queue or not; or the select ran here, and its code threw.
            Trampoline.report(e)
            refusal = e
            false
        }

    /**
     * Only its dispatcher can resume a select. So the coroutine is cancelled, and its grant goes on; but where the
     * dispatcher did not queue the select, the coroutine never resumes.
     */
    override fun refused() {
        val refusal = refusal ?: return
        if (currentState == RETURNED) select.context[Job]?.cancel(selectRefused(refusal))
    }

    private fun selectRefused(why: Throwable?) =
        CancellationException("select with ${core.callOf(this)} was cancelled: $SELECT_REFUSED", why)

    override fun resumeFailed() {
        resume()
    }

    /** The select that this clause had won was cancelled before it ran. */
    fun cancelled() = undo()

    /** Another clause has won, or the select was cancelled. */
    override fun dispose() = lose()
}

private const val SELECT_REFUSED = "the select's dispatcher refused to resume it"
