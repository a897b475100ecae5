package baton.sync

import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.CountdownCore
import baton.waiting.coroutine.awaitPassing
import baton.waiting.lookAtWaiters
import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause0

/**
 * Counts pending work, and lets callers wait until none is pending. As in Go: call [add] before a piece of work starts,
 * and [done] when it has ended.
 *
 * The count may go up and down at any time, and the group can be used again after the count was zero. Use it for work
 * that no scope holds together: callbacks, requests in flight, tasks on foreign executors. To await coroutines of your
 * own, use their scope; for an event that happens once, see [Latch].
 *
 * ```
 * group.add()
 * client.sendAsync(request) { group.done() }
 * group.await()
 * ```
 *
 * *Waiting.* [await] suspends until the count is zero, or for a limited time. [add] and [done] never wait.
 *
 * *Zero.* When the count reaches zero, all callers that wait at that moment are granted, although an [add] may follow
 * at once: when [await] returns, the count may be above zero again. Callers that come after that moment do not see it.
 * To wait for work, call [add] before any caller can await it, so not from within that work.
 *
 * *Order.* All waiters are granted in the same step, and woken in the order in which they came: coroutines, `select`
 * clauses and the futures of the Java API alike.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits, or after the count was zero but before it runs,
 * throws. That leaves no waiter behind and does not change the count. A call that does not have to wait does not check
 * for cancellation.
 *
 * *Memory.* Actions before a [done] happen before the actions that follow an [await] that returns normally, or returns
 * true, because of the zero to which that [done] contributed. An [await] that was cancelled or timed out publishes and
 * sees nothing.
 *
 * *Misuse.* [done] at zero, and an [add] beyond [Int.MAX_VALUE], throw [IllegalStateException] and change nothing. The
 * callers must match every [add] with a [done].
 *
 * All members may be called from any thread. `add` and `done` are one compare-and-set, whose cost does not depend on
 * the number of waiters; the call that reaches zero wakes them.
 *
 * @property name shown by messages and [toString].
 */
public class WaitGroup(public override val name: String? = null) : Monitored {
    @get:JvmSynthetic internal val core: CountdownCore = CountdownCore(0, "WaitGroup", name, this)

    init {
        listIfNamed(core)
    }

    /** The number of added pieces of work that are not done. */
    public val count: Int
        get() = core.count

    /** How many callers wait. */
    public val waiting: Int
        get() = core.waiting

    /** The [count], of the [Int.MAX_VALUE] that are possible, and the callers that wait. */
    override fun usage(): Usage = core.lookAtWaiters().toUsage(count.toLong(), Int.MAX_VALUE.toLong())

    /**
     * Adds [n] to the count. Never suspends.
     *
     * @throws IllegalArgumentException if [n] is below 1.
     * @throws IllegalStateException if the count would be above [Int.MAX_VALUE]; nothing is added.
     */
    public fun add(n: Int = 1) {
        require(n >= 1) { "n = $n, must be at least 1" }
        if (!core.increment(n)) {
            val state = toString()
            throw IllegalStateException("add of n = $n, the count would be above ${Int.MAX_VALUE}: $state")
        }
    }

    /**
     * Decrements the count, and at zero grants all waiters. Never suspends.
     *
     * @throws IllegalStateException if the count is zero.
     */
    public fun done() {
        if (!core.decrement()) throw IllegalStateException("done without add: the count of ${core.label()} is zero")
    }

    /**
     * Waits for a moment at which the count is zero; returns at once if it is.
     *
     * *Cancellation.* Throws; there is nothing to return.
     */
    public suspend fun await() {
        core.awaitPassing()
    }

    /**
     * Waits for a moment at which the count is zero, [timeout] at most, in the clock of the caller's dispatcher.
     * Returns whether there was one. With zero or less it does not wait.
     *
     * *Cancellation.* As [await].
     */
    public suspend fun await(timeout: Duration): Boolean = core.awaitPassing(timeout)

    /** Awaits a count of zero within kotlinx.coroutines' `select`. */
    public val onAwait: SelectClause0
        get() = core.clause()

    override fun toString(): String = "${core.label()} (count = $count, waiting = $waiting)"
}
