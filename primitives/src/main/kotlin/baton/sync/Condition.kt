package baton.sync

import kotlin.time.Duration

/**
 * A place where the holder of a [Mutex] waits, without the mutex, for what other holders are to bring about. Made by
 * [Mutex.newCondition]; one mutex may have several.
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
 * *Waiting.* [await] gives up the mutex and begins to wait in one step, and comes back with the mutex. There are no
 * spurious wake-ups; but others may have held the mutex between the signal and the return, so look again at what
 * you waited for, as above. There is no `select` clause: a select cannot hold the mutex that it would give up.
 *
 * *Order.* First come, first signalled, for coroutines and the futures of the Java face alike. [signal] moves the
 * waiter to the end of the mutex's queue, where it waits like everybody else; it does not run before it has the mutex.
 *
 * *Cancellation.* The wait for the signal ends at once, but an [await] that was cancelled or has timed out takes its
 * turn in the mutex's queue: **it holds the mutex again when it throws** or answers false, so that the `withLock`
 * around it is right. A signal is not lost on somebody who was cancelled: it goes to the next of those who waited when
 * it was given, as if the cancelled one had never come. It is not kept for those who came later.
 *
 * *Memory.* [await] publishes and sees what an unlock and a lock of the mutex do.
 *
 * *Misuse.* [await], [signal] and [signalAll] while nobody holds the mutex throw [IllegalStateException] and change
 * nothing. Whether it is the caller who holds it cannot be seen.
 *
 * All members may be called from any thread.
 *
 * @property mutex whose holders wait here.
 * @property name shown by messages and [toString].
 */
public class Condition internal constructor(public val mutex: Mutex, public val name: String?) {
    internal val core: ConditionCore = ConditionCore(mutex.core, ::toString)

    /** How many wait for a signal. Those who were signalled and wait for the mutex are counted by [Mutex.waiting]. */
    public val waiting: Int get() = core.waiting

    /**
     * Gives up the mutex, waits for a signal, and takes the mutex again, for the owner who held it.
     *
     * *Cancellation.* Throws holding the mutex. Who is cancelled already throws at once, without giving it up.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public suspend fun await() {
        awaitSignal(core)
    }

    /**
     * As [await], but waits [timeout] at most for the signal, in the clock of the caller's dispatcher, and answers
     * whether it came. For the mutex it waits as long as that takes, and holds it either way. With zero or less
     * it answers false and does not give it up.
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
     * Ends the wait of the one who waits longest; without anybody who waits it does nothing.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public fun signal() {
        if (!core.signal(all = false)) throw core.notLocked("signal")
    }

    /**
     * Ends the wait of all who wait now. They have the mutex one after the other, in the order in which they came.
     * Takes time in proportion to their number, in which whoever else wants to wait or to unlock does not get on.
     *
     * @throws IllegalStateException if the mutex is not locked.
     */
    public fun signalAll() {
        if (!core.signal(all = true)) throw core.notLocked("signalAll")
    }

    override fun toString(): String {
        val label = if (name == null) "Condition" else "Condition '$name'"
        return "$label (waiting = $waiting) of $mutex"
    }
}
