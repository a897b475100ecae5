package baton.scheduler

import baton.Priority
import baton.priority
import baton.scheduler.dispatch.PriorityRunQueue
import baton.scheduler.dispatch.viewOf
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.MainCoroutineDispatcher
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

/**
 * This dispatcher with five levels of urgency; it is used as before by everybody else.
 *
 * *Misuse.* Over another [PriorityDispatcher] this adds no levels to that one's: its workers carry none, and stand there
 * at the `default`. For fewer places use its [PriorityDispatcher.limitedParallelism], which keeps levels. A dispatcher
 * that runs blocks at once and does not say so, such as one over an `Executor` that runs them on the caller's thread, is
 * not recognized: there nothing waits for its turn.
 *
 * @param parallelism how many blocks run at a time, at least 1.
 * @param name shown by `toString`.
 * @param policy which level is next.
 * @param quantum after how many blocks a worker gives way to other users of this dispatcher, at least 1.
 * @param default the level of those whose context says nothing.
 * @throws IllegalArgumentException if a number is below 1, or if this is a dispatcher that says it runs blocks at once
 *   on the caller's thread (`isDispatchNeeded` is false, as that of `Dispatchers.Unconfined`; or
 *   `Dispatchers.Main.immediate`): nothing would ever wait for its turn.
 */
@JvmOverloads
public fun CoroutineDispatcher.prioritized(
    parallelism: Int,
    name: String? = null,
    policy: PriorityPolicy = PriorityPolicy.Bounded(),
    quantum: Int = 16,
    default: Priority = Priority.NORMAL,
): PriorityDispatcher {
    require(parallelism >= 1) { "parallelism must be at least 1, was $parallelism" }
    require(quantum >= 1) { "quantum must be at least 1, was $quantum" }
    require(!runsAtOnce()) { "$this runs blocks at once on the caller's thread: nothing would wait for its turn" }
    return viewOf(PriorityRunQueue(this, parallelism, policy, quantum), pinned = null, default, name)
}

private fun CoroutineDispatcher.runsAtOnce() =
    !isDispatchNeeded(EmptyCoroutineContext) || (this is MainCoroutineDispatcher && immediate === this)

/**
 * Runs [block] at the level of [priority], on the same dispatcher. A level that is more urgent counts from the next
 * suspension in [block] on: who runs, runs already. With a level that is less urgent, whatever waits above it has its
 * turn first.
 *
 * On a view by [PriorityDispatcher.level] the level of the view counts all the same, and elsewhere than on a
 * [PriorityDispatcher] nobody is dispatched by levels. There this puts [priority] into the context and does nothing
 * else: it counts for what looks there, such as a queue with `WaitOrder.PRIORITY`, and for coroutines that are launched
 * in [block] on a [PriorityDispatcher].
 *
 * *Cancellation.* As `withContext`.
 */
@OptIn(ExperimentalContracts::class)
public suspend fun <T> withPriority(priority: Priority, block: suspend CoroutineScope.() -> T): T {
    contract { callsInPlace(block, InvocationKind.EXACTLY_ONCE) }
    return withContext(priority) {
        yieldIfHigherWaiting()
        block()
    }
}

/**
 * Gives way, as `yield()`, if work waits that is more urgent than this coroutine; else returns at once, at the price of
 * a few volatile reads, more while somebody is boosted. For long computations between their suspensions. Outside a
 * [PriorityDispatcher] nothing waits.
 *
 * *Cancellation.* As `yield()` when it gives way; a call that does not is no cancellation point.
 */
public suspend fun yieldIfHigherWaiting() {
    val context = currentCoroutineContext()
    val dispatcher = context[ContinuationInterceptor] as? PriorityDispatcher ?: return
    if (dispatcher.isHigherWaiting(dispatcher.levelOf(context))) yield()
}
