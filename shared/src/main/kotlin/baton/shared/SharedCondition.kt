package baton.shared

import baton.shared.core.SharedConditionCore
import java.time.Duration as JavaDuration
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * A condition variable between processes: the holder of a [SharedMutex] waits here, without the mutex, for a change
 * that holders in any process make.
 *
 * Use it for data in shared memory. Within one process, [Condition][baton.sync.Condition] is simpler and exact.
 *
 * ```
 * val notEmpty = mutex.condition("not empty")
 *
 * suspend fun take(): Long = mutex.withLock { lock ->
 *     while (queue.isEmpty()) notEmpty.await(lock)
 *     queue.take()
 * }
 *
 * suspend fun put(item: Long) = mutex.withLock {
 *     queue.put(item)
 *     notEmpty.signal()
 * }
 * ```
 *
 * *Waiting.* [await] releases the mutex and begins to wait in one step, and returns holding the mutex. It may return
 * without a signal that was meant for it (a spurious wake-up), so check the data again in a loop, as above. How a
 * process learns of the signals of another one: see [SharedRegion.waiting].
 *
 * *Order.* None. [signal] makes at least one of the callers go on that wait now, and may make more of them do so;
 * [signalAll] all of them.
 *
 * *Death.* A process that dies while it waits takes no signal with it. If a process dies in its section before it
 * signals, the next holder is told by [SharedLock.abandoned]: repair the data, and call [signalAll]. The waiters
 * themselves do not wake by that. A waiter whose mutex passed from a dead holder finds its own lock
 * [abandoned][SharedLock.abandoned] when [await] returns: look there if the data may be torn.
 *
 * *Cancellation.* The wait for the signal ends at once, and [await] then waits for the mutex: **it holds the lock again
 * when it throws** or returns false, so that the `withLock` around it is right. No signal is lost by that.
 *
 * *Memory.* [await] publishes and sees as an unlock and a lock of the mutex do.
 *
 * *Misuse.* The members throw and change nothing if the lock is closed or one of another mutex, and if this process
 * does not hold the mutex at a signal. After [SharedRegion.close] they throw [SharedRegionException].
 *
 * All members may be called from any thread.
 */
public class SharedCondition internal constructor(private val core: SharedConditionCore) {
    /** Its name among the conditions of its mutex. */
    public val name: String
        get() = core.name

    /**
     * Releases [lock], waits for a signal, and locks it again, with a new [fencing token][SharedLock.fencingToken].
     *
     * *Cancellation.* Throws holding the lock. A caller that is already cancelled throws at once, without releasing it.
     * A cancellation during the wait for the mutex, after a signal, does not make it throw.
     *
     * @throws IllegalArgumentException if [lock] is one of another mutex.
     * @throws IllegalStateException if [lock] is closed, or waits already.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits; [lock] is closed then.
     */
    public suspend fun await(lock: SharedLock) {
        core.await(lock, null)
    }

    /**
     * As [await], but waits [timeout] at most for a signal, in the clock of the caller's dispatcher. Returns false if
     * there was no signal before the caller held the mutex again. True may be spurious, for example after another
     * process has closed its region. The wait for the mutex has no limit, and the caller holds the lock either way.
     * With zero or less it returns false and does not release the lock.
     *
     * *Cancellation.* As [await].
     *
     * @throws IllegalArgumentException if [lock] is one of another mutex.
     * @throws IllegalStateException if [lock] is closed, or waits already.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits; [lock] is closed then.
     */
    public suspend fun await(lock: SharedLock, timeout: Duration): Boolean = core.await(lock, timeout)

    /**
     * As [await], but blocks the thread while it waits for a signal and for the mutex.
     *
     * @throws IllegalArgumentException if [lock] is one of another mutex.
     * @throws IllegalStateException if [lock] is closed, or waits already.
     * @throws InterruptedException if the thread is interrupted at the call, which then does not release the lock, or
     *   while it waits for a signal. The caller holds the lock in both cases. An interrupt during the wait for the
     *   mutex only sets the interrupt status.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits; [lock] is closed then.
     */
    @Throws(InterruptedException::class)
    public fun awaitBlocking(lock: SharedLock) {
        core.awaitBlocking(lock, null)
    }

    /**
     * As [awaitBlocking], but waits [timeout] at most for a signal. Returns what [await] does.
     *
     * @throws IllegalArgumentException if [lock] is one of another mutex.
     * @throws IllegalStateException if [lock] is closed, or waits already.
     * @throws InterruptedException as [awaitBlocking] without a timeout.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits; [lock] is closed then.
     */
    @Throws(InterruptedException::class)
    public fun awaitBlocking(lock: SharedLock, timeout: JavaDuration): Boolean =
        core.awaitBlocking(lock, timeout.toKotlinDuration())

    /**
     * Makes at least one caller go on that waits now, in any process; does nothing if none waits. Never waits.
     *
     * @throws IllegalStateException if this process does not hold the mutex.
     * @throws SharedRegionException if the region has ended.
     */
    public fun signal() {
        core.signal(isForAll = false)
    }

    /**
     * Makes all callers go on that wait now, in all processes. Never waits.
     *
     * @throws IllegalStateException if this process does not hold the mutex.
     * @throws SharedRegionException if the region has ended.
     */
    public fun signalAll() {
        core.signal(isForAll = true)
    }

    override fun toString(): String = core.toString()
}
