package baton.scheduler.schedule

import baton.bridge.RetryCall
import baton.resilience.RetryPolicy
import baton.scheduler.ScheduleConfig
import baton.waiting.clock.BoundClock
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.DisposableHandle

/** The attempts of a run, under the [policy] of its entry; each may take the time [limit]. */
internal class RunAttempts(val policy: RetryPolicy, val limit: Duration, clock: BoundClock?) {
    val call = RetryCall(policy, clock)

    /** That of the next attempt, if the run waits for it; see [RunRetries.failureAfter]. */
    @Volatile var timer: DisposableHandle? = null
}

/**
 * The runs that wait for another attempt. Such a run has neither a place nor a coroutine: only its entry knows it, as
 * one that has not begun, so that an edit drops it. The thread that takes it out of [waiting] goes on with it.
 */
internal class RunRetries<K : Any>(
    private val config: ScheduleConfig,
    private val core: ScheduleCore<K>,
    private val fires: FireCore<K>,
    private val isEnding: () -> Boolean,
    private val handOver: (Firing<K>) -> Unit,
) {
    private val waiting: MutableSet<Firing<K>> = ConcurrentHashMap.newKeySet()

    /**
     * An attempt of [firing] begins in [context]. Returns how long it may take. The first one calls code of the user.
     */
    fun begin(firing: Firing<K>, context: CoroutineContext): Duration {
        firing.attempts?.let {
            return it.limit
        }
        val timeout = core.runTimeout(firing.key)
        val policy = config.retry(firing.key) ?: return timeout
        val clock = if (policy.maxElapsed.isFinite()) BoundClock(policy.clock ?: config.clock, context) else null
        val limit = minOf(timeout, policy.attemptTimeout)
        firing.attempts = RunAttempts(policy, limit, clock)
        return limit
    }

    /**
     * Decides on the [failure] of an attempt that has ended [now]. Returns null if another one follows, else the
     * failure of the run.
     *
     * While the schedule ends no other follows, but the run has not ended: it is due at the next start, unless it is
     * cancelled meanwhile.
     */
    fun failureAfter(firing: Firing<K>, failure: Throwable, now: Long, context: CoroutineContext): Throwable? {
        val attempts = firing.attempts ?: return failure
        try {
            if (!attempts.call.isRetryable(failure) || !attempts.call.advance(failure))
                return attempts.call.ending(failure)
        } catch (e: Throwable) {
            return e
        }
        val delay = attempts.call.delay.toKotlinDuration()
        if (!fires.giveBack(firing, Times.saturated(now, delay.inWholeMicroseconds)) { waiting += firing })
            return attempts.call.ending(failure)
        val attempt = firing.lastEnded
        try {
            val timer = core.clock.schedule(delay, context) { if (!isEnding() && take(firing)) handOver(firing) }
            // The thread of the timer may be at the next attempt already, or at the timer of another one.
            val isNext = core.table.step { (firing.attempt == attempt).also { if (it) attempts.timer = timer } }
            // The thread that has cancelled the run meanwhile, or ends the schedule, did not see the timer.
            if (!isNext || firing !in waiting || isEnding()) timer?.dispose()
        } catch (e: Throwable) {
            if (take(firing)) return attempts.call.ending(failure).also { it.addSuppressed(e) }
        }
        return null
    }

    /** Returns whether [firing] was waiting, and does so no longer. */
    fun take(firing: Firing<K>): Boolean {
        if (!waiting.remove(firing)) return false
        firing.attempts?.timer?.dispose()
        return true
    }

    /** The schedule ends. A run that waits is still found by a thread that cancels it. */
    fun end() {
        for (firing in waiting) firing.attempts?.timer?.dispose()
    }
}
