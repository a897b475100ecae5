package baton.sync

import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause0

/**
 * Counts what is under way, and lets others wait until nothing is. As in Go: [add] before something begins, [done] when
 * it has ended.
 *
 * Parties may come and go at any time, and the group can be used again after it was at zero. Use it for work that no
 * scope holds together: callbacks, requests in flight, tasks of other people's executors. Coroutines of your own are
 * awaited by their scope; for something that happens once, see [Latch].
 *
 * *Waiting.* [await] suspends until the count is zero, or for a limited time. [add] and [done] never wait.
 *
 * *Zero.* Whoever waits at a moment at which the count is zero is let in by it, although [add] may follow at once: to
 * have been let in says nothing about the count now. Whoever comes after that moment is not told of it. To wait for
 * work, call [add] before whoever awaits it can come, so not from within that work.
 *
 * *Order.* All who wait are let in by the same step, and woken in the order in which they came: coroutines, `select`
 * clauses and the futures of the Java face alike.
 *
 * *Cancellation.* Prompt: whoever is cancelled while it waits, or after the count was zero but before it runs, throws.
 * It leaves nothing behind, and the count as it is. A call that need not wait does not look for cancellation.
 *
 * *Memory.* What happens before a [done] happens before whatever follows an [await] that returns, or answers true,
 * because of the zero which that [done], perhaps with others, brought about. One that gave up publishes and sees
 * nothing.
 *
 * *Misuse.* [done] at zero, and an [add] beyond [Int.MAX_VALUE], throw [IllegalStateException] and change nothing. That
 * every [add] has its [done] is for the callers to see to.
 *
 * All members may be called from any thread. `add` and `done` are one compare-and-set, and do not grow dearer with
 * those who wait; the one that reaches zero wakes them.
 *
 * @property name shown by messages and [toString].
 */
public class WaitGroup(public val name: String? = null) {
    internal val core: CountdownCore = CountdownCore(0)

    /** How many have been added and are not done. */
    public val count: Int get() = core.count

    /** How many wait. */
    public val waiting: Int get() = core.waiting

    /**
     * Adds [n] to the count. Never suspends.
     *
     * @throws IllegalArgumentException if [n] is below 1.
     * @throws IllegalStateException if the count would be above [Int.MAX_VALUE]; nothing is added.
     */
    public fun add(n: Int = 1) {
        require(n >= 1) { "n = $n, must be at least 1" }
        if (!core.up(n)) {
            val state = toString()
            throw IllegalStateException("add of n = $n, the count would be above ${Int.MAX_VALUE}: $state")
        }
    }

    /**
     * Takes one off the count, and at zero lets in all who wait. Never suspends.
     *
     * @throws IllegalStateException if the count is zero.
     */
    public fun done() {
        if (!core.down()) throw IllegalStateException("done without add: the count of ${label()} is zero")
    }

    /**
     * Waits for a moment at which the count is zero; returns at once if it is.
     *
     * *Cancellation.* Throws; there is nothing to give back.
     */
    public suspend fun await() {
        core.await()
    }

    /**
     * Waits for a moment at which the count is zero, [timeout] at most, in the clock of the caller's dispatcher.
     * Answers whether there was one. Zero or negative means now or not at all.
     *
     * *Cancellation.* As [await].
     */
    public suspend fun await(timeout: Duration): Boolean = core.await(timeout)

    /** Awaits a count of zero within kotlinx.coroutines' `select`. */
    public val onAwait: SelectClause0 get() = core.clause()

    private fun label() = if (name == null) "WaitGroup" else "WaitGroup '$name'"

    override fun toString(): String = "${label()} (count = $count, waiting = $waiting)"
}
