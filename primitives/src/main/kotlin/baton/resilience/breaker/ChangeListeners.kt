package baton.resilience.breaker

import baton.resilience.BreakerState
import baton.waiting.Wakeup
import baton.waiting.flight.FlightEvents
import baton.waiting.threads.Trampoline

/**
 * The listeners of a [CircuitBreakerCore], and the changes for which they have not been called yet.
 *
 * A decision that changes the state appends the change here, together with the listeners of that moment, and chains
 * this to its wake-ups. One thread at a time then calls the listeners, without the lock, until no change is left; it
 * takes over the changes that other threads or the listeners themselves make meanwhile. So the listeners see the
 * changes in their order, and a listener that makes changes needs no stack.
 *
 * All fields are guarded by the lock of the core.
 */
internal class ChangeListeners(private val core: CircuitBreakerCore) : Wakeup() {
    private var listeners = emptyList<Listener>()
    private var first: Change? = null
    private var last: Change? = null
    private var isCalling = false

    /** The state after the latest change that was appended. */
    var latest = BreakerState.CLOSED
        private set

    private class Change(val from: BreakerState, val to: BreakerState, val listeners: List<Listener>) {
        var next: Change? = null
    }

    init {
        // A class that is loaded under the lock, because the stack has no room left, would stay broken.
        FlightEvents.areOn()
    }

    private inner class Listener(val call: (BreakerState, BreakerState) -> Unit) : AutoCloseable {
        @Volatile var isClosed = false

        override fun close() {
            isClosed = true
            core.decide { listeners = listeners - this }
        }

        override fun toString() = "listener of ${core.label()}"
    }

    fun add(listener: (BreakerState, BreakerState) -> Unit): AutoCloseable =
        Listener(listener).also { core.decide { listeners = listeners + it } }

    /** Appends the change from [latest] to [to]. Under the lock. */
    fun changed(to: BreakerState) {
        val change = if (listeners.isEmpty() && !FlightEvents.areOn()) null else Change(latest, to, listeners)
        latest = to
        if (change == null) return
        val last = last
        if (last == null) first = change else last.next = change
        this.last = change
        if (isCalling) return
        isCalling = true
        core.wake(this)
    }

    override fun arrive(): Wakeup? {
        while (true) {
            val change = core.decide { takeFirst() } ?: return null
            FlightEvents.stateChanged(core.label(), change.from.name, change.to.name)
            for (listener in change.listeners) {
                if (!listener.isClosed) Trampoline.guarded { listener.call(change.from, change.to) }
            }
        }
    }

    private fun takeFirst(): Change? {
        val change = first
        if (change == null) isCalling = false
        first = change?.next
        if (first == null) last = null
        return change
    }
}
