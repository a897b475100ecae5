package baton.benchmarks

import java.util.concurrent.atomic.AtomicInteger

/**
 * How long up to [capacity] acquires took, and how many each of several callers had. Thread-safe while it is added to.
 */
class WaitTimes(capacity: Int) {
    private val times = LongArray(capacity)
    private val size = AtomicInteger()
    private val most = AtomicInteger()
    private val least = AtomicInteger(Int.MAX_VALUE)

    fun add(nanos: Long) {
        times[size.getAndIncrement()] = nanos
    }

    fun addCaller(turns: Int) {
        most.accumulateAndGet(turns, ::maxOf)
        least.accumulateAndGet(turns, ::minOf)
    }

    fun clear() {
        size.set(0)
        most.set(0)
        least.set(Int.MAX_VALUE)
    }

    /** After all additions. */
    fun note() {
        val count = size.get()
        times.sort(0, count)
        for ((name, share) in PERCENTILES) Observed.note(name, times[(count * share).toInt()].toDouble(), "ns")
        Observed.note("most", most.get().toDouble(), "acquires")
        Observed.note("least", least.get().toDouble(), "acquires")
    }

    private companion object {
        val PERCENTILES = mapOf("p50" to 0.5, "p99" to 0.99, "p99.9" to 0.999)
    }
}
