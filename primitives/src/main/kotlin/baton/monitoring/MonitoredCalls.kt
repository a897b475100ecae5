package baton.monitoring

/** A [Monitored] object that lets calls through, and reports each of them: a circuit breaker, a resilience pipeline. */
public interface MonitoredCalls : Monitored {
    /**
     * Calls [listener] at the end of each call that begins from now on, until the result is closed. It is called
     * without a lock, on the thread that ends the call, before the caller sees the end; several calls may do that at
     * the same time. An exception of a listener goes to the thread's handler of uncaught exceptions. A listener that
     * blocks holds up the caller. Without listeners no event is made, and no clock is read for one.
     */
    public fun onCall(listener: (CallEvent) -> Unit): AutoCloseable
}
