package baton.scheduler.dispatch

import baton.Priority
import kotlinx.coroutines.Delay
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * A way into [line] that waits for time as the dispatcher underneath does, if that knows how; else kotlinx's default
 * does.
 */
@OptIn(InternalCoroutinesApi::class)
internal fun viewOf(line: RunQueue, pinned: Priority?, default: Priority, name: String?): DispatcherView {
    val under = line.root.under
    if (under is Delay) return DelayDispatcherView(line, pinned, default, name, under)
    return DispatcherView(line, pinned, default, name)
}

/**
 * A [DispatcherView] with a clock. `Delay` is an internal API of kotlinx.coroutines. Tested against kotlinx-coroutines
 * 1.9.0, 1.10.2 and 1.11.0.
 */
@OptIn(InternalCoroutinesApi::class)
private class DelayDispatcherView(line: RunQueue, pinned: Priority?, default: Priority, name: String?, under: Delay) :
    DispatcherView(line, pinned, default, name),
    Delay by under
