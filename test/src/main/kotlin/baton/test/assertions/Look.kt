package baton.test.assertions

import baton.batch.BatchProcessor
import baton.channels.Channel
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.parallel.MemoryGate
import baton.resilience.CircuitBreaker
import baton.resilience.RateLimiter
import baton.resilience.RetryBudget
import baton.scheduler.Schedule
import baton.scheduler.TaskScheduler
import baton.sync.Barrier
import baton.sync.Condition
import baton.sync.Latch
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.sync.WaitGroup

/**
 * The [target] of an assertion as it is at this moment.
 *
 * @property source the object behind it.
 */
internal class Look(val target: Any) {
    val source: Monitored = monitoredOf(target)
    val usage: Usage = source.usage()

    /** What has to be given back; null where nothing is: a party only waits, permits of a rate come back with time. */
    val held: Count? = heldOf(source, usage)

    /** The callers that wait. */
    val waiters: Count =
        Count(waitersOf(source), if (source is Channel<*>) source.waiting else usage.waiting) { namesOf(usage) }

    /** What a schedule fires later; it is idle all the same. */
    val timers: Count? = if (source is Schedule<*>) Count("entries", source.size) else null
}

/** How many of what [noun] says there are, and [details] for a message, which are read when it is made. */
internal class Count(val noun: String, val number: Long, private val details: () -> String = { "" }) {
    constructor(noun: String, number: Int, details: () -> String = { "" }) : this(noun, number.toLong(), details)

    /** A line of a message. [before] is what there was of it earlier. */
    fun line(before: Long = 0): String {
        val earlier = if (before == 0L) "" else ", before: $before"
        return "\n  $noun: $number$earlier${details()}"
    }
}

private fun heldOf(source: Monitored, usage: Usage): Count? =
    when (source) {
        is Barrier,
        is Latch,
        is Condition,
        is RateLimiter,
        is CircuitBreaker,
        is MemoryGate,
        is RetryBudget -> null
        is Semaphore -> Count("permits held", usage.inUse) { holdersOf(source) }
        is Mutex -> Count("holders", usage.inUse) { holdersOf(source, listOfNotNull(source.holder)) }
        is ReadWriteLock -> readersAndWriter(source)
        is Channel<*> -> Count("elements not received", usage.inUse)
        is WaitGroup -> Count("pieces of work not done", usage.inUse)
        is BatchProcessor -> Count("items in progress", usage.inUse)
        is TaskScheduler -> Count("tasks running", usage.inUse)
        is Schedule<*> -> Count("runs in progress", usage.inUse)
        else -> Count("in use", usage.inUse)
    }

private fun readersAndWriter(lock: ReadWriteLock): Count {
    val writers = if (lock.isWriteLocked) 1 else 0
    return Count("holders", lock.readers + writers) {
        holdersOf(lock, listOfNotNull(lock.writeHolder) + lock.readHolders)
    }
}

private fun waitersOf(source: Monitored) =
    when (source) {
        is TaskScheduler -> "tasks waiting"
        is Schedule<*> -> "runs waiting"
        else -> "callers waiting"
    }

private fun namesOf(usage: Usage): String {
    val named = usage.waiters
    if (named.isEmpty()) return ""
    val more = if (usage.waiting > named.size) " and ${usage.waiting - named.size} more" else ""
    return ", ${named.joinToString()}$more"
}
