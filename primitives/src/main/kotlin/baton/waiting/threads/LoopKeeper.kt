package baton.waiting.threads

import baton.Boosting
import baton.InternalBatonApi
import java.util.concurrent.RejectedExecutionException
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.job
import kotlinx.coroutines.withContext

/**
 * Keeps the coroutines that run by themselves going, and reports what stops them. An owner, such as a monitor, has one
 * keeper for all of its coroutines.
 * 1. A step of a loop that throws is reported once, until a step works again. The loop goes on after a pause, which the
 *    clock of the dispatcher measures, a virtual one too.
 * 2. Only the cancellation of the loop's own coroutine ends the loop. A `CancellationException` while that is active is
 *    a failure of the code that threw it (see [failureOf]).
 * 3. On [dispatcher], a coroutine that the dispatcher of the owner's context refuses to run waits until it is accepted:
 *    see [PatientDispatcher]. The refusal is reported once, until that dispatcher has run a coroutine again.
 * 4. If that dispatcher was shut down, or has refused for [longestRefusal], then that is reported and [onGone] called,
 *    and the coroutines run on Dispatchers.IO, so that they can end; those of [usersDispatcher] are cancelled first.
 *
 * @param context that of the owner's coroutines.
 * @param label the owner, for messages.
 * @param report must not throw. It is called on the thread of the loop, or on one of Dispatchers.IO.
 * @param onGone called, perhaps more than once, with what the end of the owner is to say: a `CancellationException` if
 *   the dispatcher was shut down, as that of kotlinx.
 */
@InternalBatonApi
public class LoopKeeper(
    context: CoroutineContext,
    private val label: String,
    private val report: (Throwable) -> Unit,
    internal val longestRefusal: Duration = 60.seconds,
    private val onGone: (Exception) -> Unit = {},
) {
    /**
     * The context with which the owner launches its coroutines; empty if its dispatcher neither refuses nor cancels.
     */
    public val dispatcher: CoroutineContext =
        when (val own = context[ContinuationInterceptor]) {
            !is CoroutineDispatcher,
            Dispatchers.Default,
            Dispatchers.IO,
            Dispatchers.Unconfined -> EmptyCoroutineContext
            else -> patient(own, this)
        }

    /**
     * As [dispatcher], for the coroutines that run code of users, which must not run elsewhere: one that is refused
     * waits, too, also while the owner ends, and is cancelled where [dispatcher] runs the owner's own on
     * Dispatchers.IO.
     */
    public val usersDispatcher: CoroutineContext =
        if (dispatcher === EmptyCoroutineContext || context[ContinuationInterceptor] is Boosting) EmptyCoroutineContext
        else dispatcher + UsersCode(this)

    /** Whether the owner ends: what is refused from here on runs on Dispatchers.IO at once. */
    @Volatile public var isEnding: Boolean = false

    /** Repeats [step] until the coroutine is cancelled, or a failure [isFinal], which is thrown. */
    public suspend fun repeat(
        pause: Duration = SHORTEST_PAUSE,
        isFinal: (Throwable) -> Boolean = { false },
        step: suspend () -> Unit,
    ): Nothing {
        var failures = 0
        while (true) {
            val failure =
                try {
                    // A step that cancels its job does not cancel the loop.
                    withContext(Loop(this, currentCoroutineContext().job)) { failureOfSteps(step) { failures = 0 } }
                } catch (e: CancellationException) {
                    e
                }
            currentCoroutineContext().ensureActive()
            if (isFinal(failure)) throw failure
            if (failures == 0) report(failureOf(failure, "a step of $label"))
            delay((pause * (1 shl failures)).coerceAtMost(maxOf(pause, LONGEST_PAUSE)))
            if (failures < DOUBLINGS) failures++
        }
    }

    private suspend fun failureOfSteps(step: suspend () -> Unit, onSuccess: () -> Unit): Throwable {
        try {
            while (true) {
                step()
                onSuccess()
            }
        } catch (e: Throwable) {
            return e
        }
    }

    /** The dispatcher has refused a coroutine for the first time since it has run one. */
    internal fun waits(by: CoroutineDispatcher, cause: Throwable?) {
        report(RejectedExecutionException("$label waits: $by has refused to run it, and is asked again", cause))
    }

    /** The clock of the dispatcher has thrown for the first time. */
    internal fun lacksClock(clock: Any, cause: Throwable) {
        report(IllegalStateException("$label waits by the system's clock, because that of $clock has failed", cause))
    }

    internal fun gone(by: CoroutineDispatcher, isShutDown: Boolean, isReported: Boolean, cause: Throwable?) {
        val why = if (isShutDown) "was shut down" else "has refused to run it for $longestRefusal"
        val failure = RejectedExecutionException("$label cannot go on: $by $why", cause)
        if (!isReported) report(failure)
        onGone(if (isShutDown) CancellationException(failure.message, failure) else failure)
    }

    /** Whether code of users runs in [context]. The keepers of others may have left their marks there. */
    internal fun runsUsersCode(context: CoroutineContext) = context[UsersCode]?.keeper === this

    /**
     * Whether the coroutine of [context] is cancelled: inside a loop, whether that is. A step whose `withTimeout` is
     * over goes on with an inactive job.
     */
    internal fun isCancelled(context: CoroutineContext): Boolean {
        val loop = context[Loop]?.takeIf { it.keeper === this }
        return (loop?.job ?: context[Job])?.isActive == false
    }

    private class Loop(val keeper: LoopKeeper, val job: Job) : AbstractCoroutineContextElement(Loop) {
        companion object Key : CoroutineContext.Key<Loop>
    }

    private class UsersCode(val keeper: LoopKeeper) : AbstractCoroutineContextElement(UsersCode) {
        companion object Key : CoroutineContext.Key<UsersCode>
    }

    public companion object {
        private val SHORTEST_PAUSE = 10.milliseconds
        private val LONGEST_PAUSE = 1.seconds
        private const val DOUBLINGS = 10

        /**
         * [e], which [callee] threw while its caller was not cancelled; never a `CancellationException`, which would
         * end the caller's coroutine without a report.
         */
        public fun failureOf(e: Throwable, callee: String): Throwable =
            if (e is CancellationException) IllegalStateException("$callee has thrown $e, but was not cancelled", e)
            else e
    }
}
