package baton.test

import baton.BatonClock
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.scheduler.Schedule
import baton.scheduler.bridge.firstDueOf
import baton.test.assertions.monitoredOf
import baton.test.interleaving.Explorer
import java.time.DateTimeException
import java.time.Duration
import java.time.Instant
import java.util.TreeSet
import java.util.concurrent.locks.LockSupport
import kotlin.time.toJavaDuration

/**
 * A clock for tests, whose time passes by [advance] alone.
 *
 * ```
 * val clock = ManualClock()
 * val limiter = RateLimiter.tokenBucket(10 per 1.seconds, clock = clock)
 * clock.advance(1.seconds)          // in Java: Duration.ofSeconds(1)
 * ```
 *
 * *Timers.* [advance] runs the timers that become due, on its own thread, in the order of their times, and those of one
 * time in the order in which they were scheduled. The clock shows the time of a timer while that runs. A timer that is
 * scheduled meanwhile runs within the same call if it is due by then. One that is due at once runs at the next call,
 * also of `advance(Duration.ZERO)`.
 *
 * *Order.* Code that waits for the clock goes on once a timer has run, on its own dispatcher or executor: so [advance]
 * may return before that code has done its work. With `Dispatchers.Unconfined`, or `Runnable::run` as the executor, it
 * does the work first.
 *
 * *Failures.* [advance] throws the exception of a timer; the clock then shows the time of that timer, and the later
 * ones stay.
 *
 * *Threads.* All members may be called from any thread. Of several threads that advance at the same time, each passes
 * its own duration from when it was called, and timers of different times may then run at the same time. No lock is
 * held while a timer runs, so that may advance the clock, too.
 *
 * *Misuse.* No thread can wait for this clock: a blocking call that would have to throws [IllegalStateException].
 *
 * @param start the date at the beginning; by default the year 2000, in UTC.
 */
public class ManualClock @JvmOverloads constructor(private val start: Instant = DEFAULT_START) : BatonClock, Monitored {
    /** Guarded by itself. */
    private val timers = TreeSet<Timer>()
    private var scheduled = 0L

    /** The nanoseconds since [start]. Written under the lock. */
    @Volatile private var elapsed = 0L

    override val name: String?
        get() = null

    override fun instant(): Instant = start.plusNanos(elapsed)

    /** The nanoseconds that have passed since the start. */
    override fun nanoTime(): Long = elapsed

    /**
     * Lets time pass, and runs the timers that become due.
     *
     * @throws IllegalArgumentException if [by] is negative, or leads beyond 292 years after the start, or the last
     *   [Instant]; no time has passed then.
     */
    public fun advance(by: Duration) {
        require(!by.isNegative) { "by = $by, must be at least 0" }
        val target = synchronized(timers) { targetOf(by) }
        while (true) {
            val timer = takeDue(target) ?: return
            timer.task.run()
        }
    }

    /** As the other, for a duration of Kotlin. */
    public fun advance(by: kotlin.time.Duration): Unit = advance(by.toJavaDuration())

    /** Lets time pass until the next timer is due, and runs it and all others of that time. False if there is none. */
    public fun advanceToNextTimer(): Boolean {
        val remaining =
            synchronized(timers) {
                if (timers.isEmpty()) return false
                Duration.ofNanos(maxOf(0, timers.first().due - elapsed))
            }
        advance(remaining)
        return true
    }

    /**
     * Lets time pass until the first entry of [schedule] is due, a schedule of Kotlin or of Java with this clock.
     * False, and no time passes, if none is.
     *
     * If an entry is due already, the call waits until the schedule has fired it, on a thread of its own, for at most a
     * second of real time. A schedule on the thread of the test fires between two calls, say by `runCurrent()`. The
     * call does not wait for the end of a run.
     *
     * @throws IllegalArgumentException if [schedule] is no schedule with this clock.
     * @throws IllegalStateException if the schedule does not fire what is due, as it does not run; no time has passed.
     */
    public fun advanceToNextDue(schedule: Any): Boolean {
        val target = monitoredOf(schedule)
        require(target is Schedule<*> && target.config.clock === this) {
            "$schedule is no schedule with the clock $this"
        }
        val due = nextDueOf(target) ?: return false
        advance(Duration.between(instant(), due))
        // Coroutines wait for whole milliseconds, so the timer of the schedule may be later by less than one.
        if (firstDueOf(target) == due) advance(Duration.ofNanos(nanosToLastTimerWithinAMilli()))
        return true
    }

    /** When the first entry of [schedule] is due, once it has fired what was due before. */
    private fun nextDueOf(schedule: Schedule<*>): Instant? {
        val start = System.nanoTime()
        while (true) {
            val due = firstDueOf(schedule)
            val now = instant()
            if (due == null || due > now) return due
            check(System.nanoTime() - start < PATIENCE) {
                "$schedule has not fired what was due at $due, and it is $now: it does not run, its executor is busy, " +
                    "or it runs on this thread, and needs runCurrent() between two calls"
            }
            LockSupport.parkNanos(this, BETWEEN_LOOKS)
        }
    }

    private fun nanosToLastTimerWithinAMilli() =
        synchronized(timers) {
            timers.map { it.due - elapsed }.lastOrNull { it < NANOS_PER_MILLI }?.coerceAtLeast(0) ?: 0
        }

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val nanos = if (delay.isNegative) 0 else nanosOf(delay)
        val timer =
            synchronized(timers) {
                val due = if (nanos > Long.MAX_VALUE - elapsed) Long.MAX_VALUE else elapsed + nanos
                Timer(due, scheduled++, task).also { timers += it }
            }
        Explorer.hasTimerOn(this)
        return timer
    }

    /** The timers, as callers that wait; a clock has no capacity. */
    override fun usage(): Usage =
        synchronized(timers) {
            val first = timers.take(NAMED).map { "a timer in ${Duration.ofNanos(maxOf(0, it.due - elapsed))}" }
            Usage(inUse = 0, capacity = 0, timers.size, waiters = first)
        }

    private fun targetOf(by: Duration): Long {
        try {
            val target = Math.addExact(elapsed, by.toNanos())
            start.plusNanos(target)
            return target
        } catch (e: ArithmeticException) {
            throw tooFar(by, e)
        } catch (e: DateTimeException) {
            throw tooFar(by, e)
        }
    }

    private fun tooFar(by: Duration, cause: RuntimeException) =
        IllegalArgumentException(
            "by = $by, beyond what a clock that began at $start and is at ${instant()} can show",
            cause,
        )

    private fun nanosOf(delay: Duration): Long =
        try {
            delay.toNanos()
        } catch (_: ArithmeticException) {
            Long.MAX_VALUE
        }

    /** The next timer that is due by [target], at whose time the clock is then; null with the clock at [target]. */
    private fun takeDue(target: Long): Timer? =
        synchronized(timers) {
            val next = if (timers.isEmpty()) null else timers.first().takeIf { it.due <= target }
            elapsed = maxOf(elapsed, next?.due ?: target)
            next?.also { timers -= it }
        }

    override fun toString(): String {
        val usage = usage()
        val next = if (usage.waiting == 0) "" else ": ${usage.waiters.joinToString()}"
        return "ManualClock (${instant()}, timers = ${usage.waiting}$next)"
    }

    private inner class Timer(val due: Long, private val number: Long, val task: Runnable) :
        AutoCloseable, Comparable<Timer> {
        override fun compareTo(other: Timer): Int = compareValuesBy(this, other, { it.due }, { it.number })

        override fun close() {
            synchronized(timers) { timers -= this }
        }
    }

    private companion object {
        val DEFAULT_START: Instant = Instant.parse("2000-01-01T00:00:00Z")
        private const val NAMED = 10
        private const val NANOS_PER_MILLI = 1_000_000L
        private const val BETWEEN_LOOKS = 100_000L
        private const val PATIENCE = 1_000_000_000L
    }
}
