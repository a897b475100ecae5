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
 * Returns a dispatcher with five levels of urgency that runs its blocks on this one. Other users of this dispatcher are
 * not affected.
 *
 * ```
 * val prioritized = Dispatchers.Default.prioritized(parallelism = 2)
 * launch(prioritized + Priority.HIGH) { show(page) }
 * ```
 *
 * *Misuse.* Over another [PriorityDispatcher] the new levels do not add to that one's: the new workers carry no level
 * and are queued there at its `default`. For fewer workers use [PriorityDispatcher.limitedParallelism], which keeps
 * levels. A dispatcher that runs blocks in place while its `isDispatchNeeded` returns true, such as one over an
 * `Executor` that runs them on the caller's thread, is not recognized: there no block is ever queued.
 *
 * @param parallelism the maximum number of blocks that run at a time, at least 1.
 * @param name shown by `toString`.
 * @param policy selects the level that is next.
 * @param quantum the number of blocks after which a worker gives way to other users of this dispatcher, at least 1.
 * @param default the level of coroutines whose context contains none.
 * @throws IllegalArgumentException if a number is below 1, or if this dispatcher runs blocks in place on the caller's
 *   thread (`isDispatchNeeded` is false, as that of `Dispatchers.Unconfined`; or `Dispatchers.Main.immediate`), because
 *   no block would ever be queued.
 */
@JvmOverloads
public fun CoroutineDispatcher.prioritized(
    parallelism: Int,
    name: String? = null,
    policy: PriorityPolicy = PriorityPolicy.Bounded.DEFAULT,
    quantum: Int = 16,
    default: Priority = Priority.NORMAL,
): PriorityDispatcher {
    require(parallelism >= 1) { "parallelism = $parallelism, must be at least 1" }
    require(quantum >= 1) { "quantum = $quantum, must be at least 1" }
    require(!runsInPlace()) { "$this runs blocks in place on the caller's thread: no block would ever be queued" }
    return viewOf(PriorityRunQueue(this, parallelism, policy, quantum), pinned = null, default, name)
}

private fun CoroutineDispatcher.runsInPlace() =
    !isDispatchNeeded(EmptyCoroutineContext) || (this is MainCoroutineDispatcher && immediate === this)

/**
 * Runs [block] at the level of [priority], on the same dispatcher. A more urgent level counts from the next suspension
 * in [block] on, because the coroutine runs already. With a less urgent level, the coroutine first gives way to all
 * blocks that wait above it.
 *
 * On a view by [PriorityDispatcher.level] the view's level counts instead. Without a [PriorityDispatcher], levels do
 * not affect dispatching: this only puts [priority] into the context. It then counts for code that reads the context,
 * such as a queue with `WaitOrder.PRIORITY`, and for coroutines that [block] launches on a [PriorityDispatcher].
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
 * Suspends, as `yield()`, if work waits that is more urgent than this coroutine. Otherwise it returns at once, for the
 * cost of a few volatile reads, and more while any coroutine is boosted. Call it in long computations that do not
 * suspend. Without a [PriorityDispatcher] it always returns at once.
 *
 * *Cancellation.* As `yield()` if it suspends; otherwise the call is not a cancellation point.
 */
public suspend fun yieldIfHigherWaiting() {
    val context = currentCoroutineContext()
    val dispatcher = context[ContinuationInterceptor] as? PriorityDispatcher ?: return
    if (dispatcher.isHigherWaiting(dispatcher.levelOf(context))) yield()
}
