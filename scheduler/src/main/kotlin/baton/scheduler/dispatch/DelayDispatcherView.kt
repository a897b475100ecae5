package baton.scheduler.dispatch

import baton.Priority
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * A view of [queue]. It delays by the timers of the underlying dispatcher if that has any, else by kotlinx's default
 * ones.
 */
@OptIn(InternalCoroutinesApi::class)
internal fun viewOf(queue: RunQueue, pinned: Priority?, default: Priority, name: String?): DispatcherView {
    val underlying = queue.root.underlying
    if (underlying is Delay) return DelayDispatcherView(queue, pinned, default, name, underlying)
    return DispatcherView(queue, pinned, default, name)
}

/**
 * A [DispatcherView] with timers. `Delay` is an internal API of kotlinx.coroutines. Tested against kotlinx-coroutines
 * 1.9.0, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
private class DelayDispatcherView(queue: RunQueue, pinned: Priority?, default: Priority, name: String?, timers: Delay) :
    DispatcherView(queue, pinned, default, name), Delay by timers
