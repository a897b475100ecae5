package baton.monitoring.core

import baton.monitoring.CallEvent
import baton.waiting.threads.Trampoline
import java.util.concurrent.atomic.AtomicReference

/** The listeners of a `MonitoredCalls` object. */
internal class CallListeners {
    private val listeners = AtomicReference<List<Listener>>(emptyList())

    private inner class Listener(val call: (CallEvent) -> Unit) : AutoCloseable {
        override fun close() {
            listeners.updateAndGet { it - this }
        }

        override fun toString() = "listener of calls"
    }

    fun add(listener: (CallEvent) -> Unit): AutoCloseable =
        Listener(listener).also { added -> listeners.updateAndGet { it + added } }

    /** Null while there is none. */
    fun orNull(): CallListeners? = takeIf { listeners.get().isNotEmpty() }

    fun report(event: CallEvent) {
        for (listener in listeners.get()) Trampoline.guarded { listener.call(event) }
    }
}
