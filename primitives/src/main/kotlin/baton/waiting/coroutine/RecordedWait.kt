package baton.waiting.coroutine

import baton.waiting.flight.WaitEvent
import baton.waiting.nameOf
import baton.waiting.threads.Trampoline
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/** A coroutine's wait in a recording: stands between the [waiter] and the coroutine, and notes when it goes on. */
internal class RecordedWait(waiter: CoroutineWaiter, val caller: Continuation<Any?>, private val event: WaitEvent) :
    Continuation<Any?> {
    private val core = waiter.core
    private val verb = core.verbOf(waiter)
    private val owner = core.ownerIn(waiter.request)

    /** Whether the wait has ended by its timeout. */
    var isLate = false

    override val context: CoroutineContext
        get() = caller.context

    /** The coroutine goes on, also if names, which are code of users, fail. */
    override fun resumeWith(result: Result<Any?>) {
        Trampoline.guarded { record(result.exceptionOrNull()) }
        caller.resumeWith(result)
    }

    private fun record(failure: Throwable?) {
        if (event.endsRecorded()) event.record(core.label(), verb, callerName(), isLate, failure)
    }

    private fun callerName() =
        context[CoroutineName]?.name ?: owner?.let(::nameOf) ?: context[Job]?.toString() ?: "a coroutine"
}
