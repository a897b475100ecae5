package baton.resilience.limiter

import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job

/**
 * The one timer of a [RateLimiterCore]: it is set for the head of the queue, on the clock of the core or, if none was
 * given, of the head's dispatcher.
 *
 * A decision that changes the head, or the time of its turn, counts [version] up and chains a [Setting] in front of its
 * wake-ups. So the timer is set without the lock, and before code of users runs that may block the thread. Only the
 * setting of the latest version counts: another one sets no timer, or disposes the timer that it has set. A timer that
 * fires too early, twice, or for a former head does no harm, because it only has the core look at its queue.
 *
 * All fields are guarded by the lock of the core.
 */
internal class HeadTimer(private val core: RateLimiterCore, private val bucket: Tokens) {
    private var head: Waiter? = null
    private var dueAt = 0L
    private var version = 0

    /** Whether the latest setting has failed: the next decision sets the timer anew. */
    private var hasFailed = false
    private var timer: DisposableHandle? = null
    private var spare: Setting? = null

    /** Begins a decision: allocates what [update] needs, before the decision has changed anything. Under the lock. */
    fun prepare() {
        if (spare == null) spare = Setting()
    }

    /** Ends a decision that leaves [newHead] waiting until [newDueAt], or no waiter. Under the lock. */
    fun update(newHead: Waiter?, newDueAt: Long) {
        val isSet = if (newHead == null) timer == null else newDueAt == dueAt
        if (newHead === head && isSet && !hasFailed) return
        hasFailed = false
        val setting = spare ?: Setting()
        spare = null
        head = newHead
        dueAt = newDueAt
        setting.mine = ++version
        core.wakeFirst(setting)
    }

    /** One setting of the timer, and the action of that timer. */
    private inner class Setting : Wakeup(), Runnable {
        var mine = 0

        private val isLatest: Boolean
            get() = mine == version

        /** The thread that asks the clock of the head. Other threads only compare it with themselves. */
        private var setter: Thread? = null
        private var hasRunInPlace = false

        /** Whether this has failed, so that the time of its decision may be long ago. */
        private var isLate = false

        override fun arrive(): Wakeup? {
            var clock: CoroutineContext? = null
            var wait = Duration.ZERO
            val now = if (isLate) core.readOrStandStill() else Long.MIN_VALUE
            val former =
                core.decide {
                    if (isLatest) {
                        clock = head?.let { it.coroutine ?: EmptyCoroutineContext }
                        wait = maxOf(0, dueAt - maxOf(now, bucket.time)).nanoseconds
                        timer.also { timer = null }
                    } else {
                        null
                    }
                }
            dispose(former)
            try {
                clock?.let { if (isLate && wait == Duration.ZERO) run() else set(wait, it) }
            } catch (e: Throwable) { // No thread for the timer. This is woken again, but perhaps not soon.
                isLate = true
                core.decide { if (isLatest) hasFailed = true }
                throw e
            }
            return null
        }

        private fun set(wait: Duration, clock: CoroutineContext) {
            val set = setOnClock(wait, clock) ?: Timeouts.schedule(wait, EmptyCoroutineContext, this)
            // Another thread may have advanced a clock of users since the decision, by as much as it likes.
            val now = if (core.clock.isReal) Long.MIN_VALUE else core.readOrStandStill()
            var isDue = false
            val isOutdated =
                core.decide {
                    if (isLatest) {
                        timer = set
                        hasFailed = false
                        isDue = wait > Duration.ZERO && now >= dueAt
                    }
                    !isLatest
                }
            if (isOutdated) dispose(set) else if (isDue) run()
        }

        /** Null if the clock refuses, or runs the action at once. That must not stop the queue. */
        private fun setOnClock(wait: Duration, clock: CoroutineContext): DisposableHandle? {
            setter = Thread.currentThread()
            return try {
                // Without the job: a dispatcher that was shut down would cancel it, and so the head, and so on to the
                // last.
                core.clock.schedule(wait, clock.minusKey(Job), this).takeUnless { hasRunInPlace }
            } catch (_: Throwable) {
                null
            } finally {
                setter = null
            }
        }

        private fun dispose(timer: DisposableHandle?) {
            if (timer != null) Trampoline.guarded { timer.dispose() }
        }

        /** The turn of the head has come, or nearly so. If the head still waits then, the timer is set again. */
        override fun run() {
            if (setter === Thread.currentThread()) {
                hasRunInPlace = true
                return
            }
            core.look {
                if (isLatest) {
                    head = null
                    version++
                }
            }
        }
    }
}
