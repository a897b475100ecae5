package baton.scheduler.dispatch

import baton.Priority
import baton.waiting.threads.KotlinxNeed
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi

private val NEED =
    KotlinxNeed(
        "dispatchers with priorities",
        { listOf(DelayDispatcherView::class.java) },
        "Delay.scheduleResumeAfterDelay(long, CancellableContinuation)",
    )

/**
 * A view of [queue]. It delays by the timers of the underlying dispatcher if that has any, else by kotlinx's default
 * ones.
 */
@OptIn(InternalCoroutinesApi::class)
internal fun viewOf(queue: RunQueue, pinned: Priority?, default: Priority, name: String?): DispatcherView {
    val underlying = queue.root.underlying
    NEED.require()
    if (underlying is Delay) return DelayDispatcherView(queue, pinned, default, name, underlying)
    return DispatcherView(queue, pinned, default, name)
}

/**
 * A [DispatcherView] with timers. `Delay` is an internal API of kotlinx.coroutines. Tested against kotlinx-coroutines
 * 1.8.1, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
private class DelayDispatcherView(queue: RunQueue, pinned: Priority?, default: Priority, name: String?, timers: Delay) :
    DispatcherView(queue, pinned, default, name), Delay by timers
