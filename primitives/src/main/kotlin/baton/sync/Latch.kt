package baton.sync

import kotlin.time.Duration
import kotlinx.coroutines.selects.SelectClause0

/**
 * A gate that opens once and for all: when [countDown] has been called as often as [count] said at first.
 *
 * Use it to wait until several parts are ready, or, with a count of 1, to hold back many until one gives the start.
 * Where parties come and go, or the same is to happen again, use [WaitGroup]; where one value is awaited,
 * `CompletableDeferred` is simpler; coroutines of your own are awaited by their scope.
 *
 * *Waiting.* [await] suspends until the count is zero, or for a limited time. [countDown] never waits.
 *
 * *Order.* All who wait are let in by the same step, and woken in the order in which they came: coroutines, `select`
 * clauses and the futures of the Java face alike.
 *
 * *Cancellation.* Prompt: whoever is cancelled while it waits, or after the latch has opened but before it runs,
 * throws. It leaves nothing behind, and the count as it is. A call that need not wait does not look for cancellation.
 *
 * *Memory.* What happens before a [countDown] that counted happens before whatever follows an [await] that returns, or
 * answers true. One that gave up publishes and sees nothing.
 *
 * *Misuse.* A [countDown] too many does nothing. A negative count throws [IllegalArgumentException].
 *
 * All members may be called from any thread. `countDown` is one compare-and-set, and does not grow dearer with those
 * who wait; the one that opens the latch wakes them.
 *
 * @param count how often [countDown] must be called, at least 0; with 0 the latch is open from the start.
 * @property name shown by messages and [toString].
 */
public class Latch(count: Int, public val name: String? = null) {
    internal val core: CountdownCore

    init {
        require(count >= 0) { "count = $count, must be at least 0" }
        core = CountdownCore(count)
    }

    /** How often [countDown] has yet to be called; 0 when the latch is open. */
    public val count: Int get() = core.count

    /** How many wait. */
    public val waiting: Int get() = core.waiting

    /** Takes one off the count. The last one opens the latch; after that it does nothing. Never suspends. */
    public fun countDown() {
        core.down()
    }

    /**
     * Waits until the latch is open.
     *
     * *Cancellation.* Throws; there is nothing to give back.
     */
    public suspend fun await() {
        core.await()
    }

    /**
     * Waits until the latch is open, [timeout] at most, in the clock of the caller's dispatcher. Answers whether it
     * opened in time. Zero or negative means now or not at all.
     *
     * *Cancellation.* As [await].
     */
    public suspend fun await(timeout: Duration): Boolean = core.await(timeout)

    /** Awaits the opening within kotlinx.coroutines' `select`. */
    public val onAwait: SelectClause0 get() = core.clause()

    override fun toString(): String {
        val label = if (name == null) "Latch" else "Latch '$name'"
        val count = count
        return if (count == 0) "$label (open)" else "$label (count = $count, waiting = $waiting)"
    }
}
