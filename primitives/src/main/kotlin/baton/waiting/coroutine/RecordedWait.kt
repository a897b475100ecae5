package baton.waiting.coroutine

import baton.waiting.flight.WaitEvent
import baton.waiting.nameOf
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/** A coroutine's wait in a recording: stands between the [waiter] and the coroutine, and notes when it goes on. */
internal class RecordedWait(waiter: CoroutineWaiter, val caller: Continuation<Any?>, private val timedOut: Any?) :
    Continuation<Any?> {
    private val core = waiter.core
    private val verb = core.verbOf(waiter)
    private val owner = core.ownerIn(waiter.request)
    private val event = WaitEvent()

    override val context: CoroutineContext
        get() = caller.context

    override fun resumeWith(result: Result<Any?>) {
        if (event.endsRecorded()) {
            val isLate = result.isSuccess && result.getOrNull() == timedOut
            event.record(core.label(), verb, callerName(), isLate, result.exceptionOrNull())
        }
        caller.resumeWith(result)
    }

    private fun callerName() =
        context[CoroutineName]?.name ?: owner?.let(::nameOf) ?: context[Job]?.toString() ?: "a coroutine"
}
