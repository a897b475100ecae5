package baton.sync

import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.sync.core.ConditionCore
import baton.sync.core.awaitSignal
import baton.waiting.labelOf
import baton.waiting.lookAtWaiters
import kotlin.time.Duration

/**
 * A condition variable: the holder of a [Mutex] waits here, without the mutex, for a change that other holders make.
 * Created by [Mutex.newCondition]; one mutex may have several.
 *
 * ```
 * suspend fun take(): Item = mutex.withLock {
 *     while (items.isEmpty()) notEmpty.await()
 *     items.removeFirst()
 * }
 *
 * suspend fun put(item: Item) = mutex.withLock {
 *     items.addLast(item)
 *     notEmpty.signal()
 * }
 * ```
 *
 * *Waiting.* [await] releases the mutex and begins to wait in one step, and returns holding the mutex. There are no
 * spurious wake-ups; but other callers may have held the mutex between the signal and the return, so check the
 * condition again in a loop, as above. There is no `select` clause: a select cannot hold the mutex that it would
 * release.
 *
 * *Order.* First come, first signalled, for coroutines and the futures of the Java API alike. [signal] moves the waiter
 * to the end of the mutex's queue; the waiter does not run before it holds the mutex.
 *
 * *Cancellation.* The wait for the signal ends at once, but an [await] that was cancelled or has timed out then waits
 * in the mutex's queue: **it holds the mutex again when it throws** or returns false, so that the `withLock` around it
 * is right. A signal to a waiter that is cancelled is not lost: it goes to the next caller that already waited when the
 * signal was given, as if the cancelled one had never come. It does not go to later callers.
 *
 * *Memory.* [await] publishes and sees as an unlock and a lock of the mutex do.
 *
 * *Misuse.* [await], [signal] and [signalAll] throw [IllegalStateException] and change nothing if the mutex is not
 * held. The condition cannot check whether the caller is the holder.
 *
 * All members may be called from any thread.
 *
 * @property mutex the mutex whose holders wait here.
 * @property name shown by messages and [toString].
 */
public class Condition internal constructor(public val mutex: Mutex, public override val name: String?) : Monitored {
    @get:JvmSynthetic internal val core: ConditionCore = ConditionCore(mutex.core, this)

    init {
        listIfNamed(core)
    }

    /** How many callers wait for a signal. Signalled callers that wait for the mutex are counted by [Mutex.waiting]. */
    public val waiting: Int
        get() = core.waiting

    /**
     * The callers that wait for a signal, with their owners. A condition has no capacity, so it is 0 of 0. The longest
     * wait is that for the signal: the wait for the mutex that follows is the mutex's.
     */
    override fun usage(): Usage = core.lookAtWaiters().toUsage(inUse = 0, capacity = 0)

    /**
     * Releases the mutex, waits for a signal, and locks the mutex again, with the same owner as before.
     *
     * *Cancellation.* Throws holding the mutex. A caller that is already cancelled throws at once, without releasing
     * it.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public suspend fun await() {
        awaitSignal(core)
    }

    /**
     * As [await], but waits [timeout] at most for the signal, in the clock of the caller's dispatcher. Returns whether
     * the signal came. The wait for the mutex has no limit, and the caller holds it either way. With zero or less it
     * returns false and does not release the mutex.
     *
     * *Cancellation.* As [await].
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public suspend fun await(timeout: Duration): Boolean {
        if (timeout > Duration.ZERO) return awaitSignal(core, timeout)
        if (!mutex.isLocked) throw core.notLocked("await")
        return false
    }

    /**
     * Signals the longest-waiting caller; does nothing if no caller waits.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public fun signal() {
        if (!core.signal(all = false)) throw core.notLocked("signal")
    }

    /**
     * Signals all callers that wait now. They get the mutex one after the other, in the order in which they came. Takes
     * O(waiters) under the internal lock, during which other callers can neither begin to wait nor unlock.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public fun signalAll() {
        if (!core.signal(all = true)) throw core.notLocked("signalAll")
    }

    override fun toString(): String {
        val label = labelOf("Condition", name)
        return "$label (waiting = $waiting) of $mutex"
    }
}
