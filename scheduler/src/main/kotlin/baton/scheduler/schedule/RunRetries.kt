package baton.scheduler.schedule

import baton.bridge.RetryCall
import baton.resilience.RetryPolicy
import baton.scheduler.ScheduleConfig
import baton.waiting.clock.BoundClock
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.CoroutineContext
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.DisposableHandle

/** The attempts of a run, under the [policy] of its entry. */
internal class RunAttempts(val policy: RetryPolicy, clock: BoundClock?) {
    val call = RetryCall(policy, clock)

    /** The timer of the next attempt; null while there is none. */
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

    /** [firing] begins in [context], perhaps anew. Calls code of the user. */
    fun begin(firing: Firing<K>, context: CoroutineContext): RunAttempts? {
        firing.attempts?.let {
            return it
        }
        val policy = config.retry(firing.key) ?: return null
        val clock = if (policy.maxElapsed.isFinite()) BoundClock(policy.clock ?: config.clock, context) else null
        return RunAttempts(policy, clock).also { firing.attempts = it }
    }

    /**
     * Decides on the [failure] of an attempt that has ended [now]. Returns null if another one follows, else the
     * failure of the run.
     *
     * While the schedule ends no other follows, but the run has not ended: it is due at the next start.
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
        try {
            val timer = core.clock.schedule(delay, context) { if (take(firing)) handOver(firing) }
            attempts.timer = timer
            // The thread that has cancelled the run meanwhile did not see the timer.
            if (firing !in waiting) timer?.dispose()
        } catch (e: Throwable) {
            if (take(firing)) return attempts.call.ending(failure).also { it.addSuppressed(e) }
        }
        if (isEnding()) take(firing)
        return null
    }

    /** Returns whether [firing] was waiting, and does so no longer. */
    fun take(firing: Firing<K>): Boolean {
        if (!waiting.remove(firing)) return false
        firing.attempts?.timer?.dispose()
        return true
    }

    /** The schedule ends. */
    fun end() {
        for (firing in waiting) take(firing)
    }
}
