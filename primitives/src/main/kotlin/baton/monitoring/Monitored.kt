package baton.monitoring

/**
 * An object with a capacity, or for which callers wait. It reports how much is in use, and which callers wait. A
 * [Monitor] watches it.
 *
 * Semaphores, mutexes, read-write locks, barriers, latches, wait groups, conditions, channels, rate limiters, circuit
 * breakers, memory gates, retry budgets, batch processors, task schedulers and schedules are monitored. Any other
 * object, such as a pool of connections, is watched by a function that returns its [Usage]: `monitor.watch("pool") {
 * Usage(pool.active, capacity = 10) }`.
 */
public interface Monitored {
    /** Shown by messages; null if it has none. */
    public val name: String?

    /** The numbers at this moment. Changes nothing, never waits for long, and may be called from any thread. */
    public fun usage(): Usage
}
