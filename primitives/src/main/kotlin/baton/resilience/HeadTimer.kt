package baton.resilience

import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.threads.Timeouts
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration.Companion.nanoseconds
import kotlinx.coroutines.DisposableHandle

/**
 * The one timer of a [RateLimiterCore]: it is set for the head of the line, on the clock of the head's dispatcher.
 *
 * A decision that changes the head, or the time of its turn, chains this to its wake-ups; so the timer is set without
 * the lock. Several threads may set it at once: [version] says whose timer counts, and the others are disposed. A timer
 * that fires too early or for a former head does no harm, for it only has the core look at its line.
 *
 * All fields are guarded by the lock of the core.
 */
internal class HeadTimer(private val core: RateLimiterCore) : Wakeup(), Runnable {
    private var head: Waiter? = null
    private var dueAt = 0L
    private var isChained = false
    private var version = 0
    private var timer: DisposableHandle? = null

    /** Ends a decision that leaves [newHead] waiting until [newDueAt], or nobody. Under the lock. */
    fun update(newHead: Waiter?, newDueAt: Long) {
        if (newHead === head && (newHead == null || newDueAt == dueAt)) return
        head = newHead
        dueAt = newDueAt
        version++
        if (isChained) return
        isChained = true
        core.wake(this)
    }

    override fun arrive(): Wakeup? {
        var mine = 0
        var wait = 0L
        var clock: CoroutineContext = EmptyCoroutineContext
        var waits = false
        val former =
            core.decide {
                isChained = false
                mine = version
                waits = head != null
                clock = head?.coroutine ?: EmptyCoroutineContext
                wait = core.nanosUntilHead(dueAt)
                timer.also { timer = null }
            }
        former?.dispose()
        if (!waits) return null
        val set = set(wait, clock)
        val isOutdated =
            core.decide {
                if (version == mine) timer = set
                version != mine
            }
        if (isOutdated) set?.dispose()
        return null
    }

    /** A dispatcher that refuses, because it was closed, must not stop the line. */
    private fun set(wait: Long, clock: CoroutineContext): DisposableHandle? {
        return try {
            Timeouts.schedule(wait.nanoseconds, clock, this)
        } catch (_: Exception) {
            Timeouts.schedule(wait.nanoseconds, EmptyCoroutineContext, this)
        }
    }

    /** The time of the head has come, or nearly so: if it is still the head, the timer is set again. */
    override fun run() {
        core.look { head = null }
    }
}
