package baton

import baton.waiting.clock.RealClock
import java.time.Duration
import java.time.Instant
import java.time.InstantSource

/**
 * The time of what retries, limits, watches or schedules: by one clock it decides, waits and dates.
 *
 * ```
 * val limiter = RateLimiter.tokenBucket(10 per 1.seconds, clock = clock)   // in Java: .clock(clock)
 * ```
 *
 * An object that is given no clock has the system's, and in a test with virtual time that of the test: it binds itself
 * to the clock of the dispatcher of its first caller that may suspend. What takes a scope binds itself to that of the
 * scope. Such an object never mixes two times: it throws [IllegalStateException] where it would. If a test has ended,
 * or another one begins, while no caller waits for the object, it goes on in the time of its next caller, as if no time
 * had passed between the two.
 *
 * A clock of your own, or of the module baton-test, must show the same time by [nanoTime] and by [instant], and fire
 * its timers in the order of their times. A thread cannot wait for it: a blocking call that would have to wait throws
 * [IllegalStateException]. If [schedule] throws, the delays of coroutines and the queue of a limiter go on by the clock
 * of the system; a call with a timeout, a task with a deadline and a future fail with the exception. All members may be
 * called from any thread.
 */
public interface BatonClock : InstantSource {
    /** The date and time. */
    override fun instant(): Instant

    /** Nanoseconds since any moment, the same one at each call: only differences count. It never goes back. */
    public fun nanoTime(): Long

    /**
     * Runs [task] once [delay] has passed, unless the result is closed before. Zero or less is due now; a clock that is
     * advanced by hand may run it at the next advance. The task runs on a thread of the clock, or on the one that
     * advances it; it is short, and does not throw.
     */
    public fun schedule(delay: Duration, task: Runnable): AutoCloseable

    /** The clocks of this machine. */
    public companion object {
        /** The clock of the system, whose timers have a grain of one millisecond, rounded up. */
        @JvmStatic public fun system(): BatonClock = RealClock.SYSTEM

        /**
         * The dates of [source], with the nanoseconds and the timers of the system. The dates may jump: a schedule
         * looks at them once a minute. A [source] that is a clock is returned as it is.
         */
        @JvmStatic public fun of(source: InstantSource): BatonClock = source as? BatonClock ?: RealClock(source)
    }
}
