package baton.monitoring.core

import baton.InternalBatonApi
import baton.monitoring.Alert
import baton.monitoring.Monitored
import baton.monitoring.Usage

/**
 * Gets what a `Monitor` sees, for a module of ours that passes it on. Called by the monitor's coroutine, one call at a
 * time, with no lock held; but [closed] may come beside another. Its exceptions are reported as those of `onAlert`.
 */
@InternalBatonApi
public interface MonitorListener {
    /**
     * A look at the source of that name, whose class is the [type]. The [Usage.peakWaiting] is that since the look
     * before. The [source] is null if a function is watched; a listener must not keep it in memory.
     */
    public fun looked(name: String, type: String, source: Monitored?, usage: Usage)

    /** That source is watched no more. Called at the next look. */
    public fun ended(name: String, type: String)

    /** Before `onAlert`. */
    public fun alerted(alert: Alert)

    /** The monitor was closed, or its scope has ended. Called once, by the thread that does that. */
    public fun closed()
}
