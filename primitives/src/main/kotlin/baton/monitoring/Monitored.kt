package baton.monitoring

/**
 * What has a capacity, and can say how much of that is in use and who waits for the rest. A [Monitor] watches it.
 *
 * Semaphores, mutexes, read-write locks, channels, rate limiters, circuit breakers, memory gates, retry budgets, batch
 * processors, task schedulers and schedules are monitored. For other things, such as a pool of connections, a function
 * that returns a [Usage] does: `monitor.watch("pool") { Usage(pool.active, capacity = 10) }`.
 */
public interface Monitored {
    /** Shown by messages; null if it has none. */
    public val name: String?

    /**
     * The numbers at this moment. Never waits for long, and may be called from any thread.
     *
     * [Usage.peakWaiting] starts anew: of two callers that take turns each gets the peaks since the other's call.
     */
    public fun usage(): Usage
}
