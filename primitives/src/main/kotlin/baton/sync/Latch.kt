package baton.sync

import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.AlertBounds
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.CountdownCore
import baton.waiting.coroutine.awaitPassing
import baton.waiting.lookAtWaiters
import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause0

/**
 * A latch that opens once and for all, after as many calls of [countDown] as its initial count.
 *
 * Use it to wait until several parts are ready, or, with a count of 1, to start many callers at the same time. If
 * parties come and go, or the same is to happen again, use [WaitGroup]; to await one value, `CompletableDeferred` is
 * simpler; to await coroutines of your own, use their scope.
 *
 * ```
 * val ready = Latch(count = parts.size)
 * parts.forEach { part -> launch { part.load(); ready.countDown() } }
 * ready.await()
 * ```
 *
 * *Waiting.* [await] suspends until the count is zero, or for a limited time. [countDown] never waits.
 *
 * *Order.* All waiters are granted in the same step, and woken in the order in which they came: coroutines, `select`
 * clauses and the futures of the Java API alike.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits, or after the latch has opened but before it runs,
 * throws. That leaves no waiter behind and does not change the count. A call that does not have to wait does not check
 * for cancellation.
 *
 * *Memory.* Actions before a [countDown] that counted happen before the actions that follow an [await] that returns
 * normally, or returns true. An [await] that was cancelled or timed out publishes and sees nothing.
 *
 * *Misuse.* A [countDown] at zero does nothing. A negative count throws [IllegalArgumentException].
 *
 * All members may be called from any thread. `countDown` is one compare-and-set, whose cost does not depend on the
 * number of waiters; the call that opens the latch wakes them.
 *
 * @param count how many calls of [countDown] open the latch, at least 0; with 0 the latch is open from the start.
 * @property name shown by messages and [toString].
 */
public class Latch(count: Int, public override val name: String? = null) : Monitored {
    private val initialCount = count
    @get:JvmSynthetic internal val core: CountdownCore

    init {
        require(count >= 0) { "count = $count, must be at least 0" }
        core = CountdownCore(count, "Latch", name, this)
        listIfNamed(core)
    }

    /** How many calls of [countDown] are still missing; 0 when the latch is open. */
    public val count: Int
        get() = core.count

    /** How many callers wait. */
    public val waiting: Int
        get() = core.waiting

    /**
     * The calls of [countDown] that are still missing, of the initial count, and the callers that wait. Monitors raise
     * no alert for that share, unless the source has rules of its own.
     */
    override fun usage(): Usage =
        core.lookAtWaiters().toUsage(count.toLong(), initialCount.toLong(), bounds = AlertBounds.NONE)

    /** Decrements the count, and at zero opens the latch; after that it does nothing. Never suspends. */
    public fun countDown() {
        core.decrement()
    }

    /**
     * Waits until the latch is open.
     *
     * *Cancellation.* Throws; there is nothing to return.
     */
    public suspend fun await() {
        core.awaitPassing()
    }

    /**
     * Waits until the latch is open, [timeout] at most, in the clock of the caller's dispatcher. Returns whether it
     * opened in time. With zero or less it does not wait.
     *
     * *Cancellation.* As [await].
     */
    public suspend fun await(timeout: Duration): Boolean = core.awaitPassing(timeout)

    /** Awaits the opening within kotlinx.coroutines' `select`. */
    public val onAwait: SelectClause0
        get() = core.clause()

    override fun toString(): String {
        val count = count
        return if (count == 0) "${core.label()} (open)" else "${core.label()} (count = $count, waiting = $waiting)"
    }
}
