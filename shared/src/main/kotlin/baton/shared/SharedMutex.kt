package baton.shared

import baton.PermitTimeoutException
import baton.shared.core.SharedMutexCore
import baton.shared.waiting.orNullAfter
import baton.waiting.Parking
import baton.waiting.flight.FlightEvents
import java.time.Duration as JavaDuration
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.time.Duration
import kotlin.time.toKotlinDuration

/**
 * Mutual exclusion between processes: at most one holder at a time, of all coroutines and threads in all processes that
 * share the [SharedRegion]. If a holder dies, the next one is told.
 *
 * Use it for data in memory that several processes change. Within one process, [Mutex][baton.sync.Mutex] is simpler.
 *
 * ```
 * val bytes = region.bytes("counter", size = 8)
 * region.mutex("counter").withLock { bytes.putLong(0, bytes.getLong(0) + 1) }
 * ```
 *
 * *Waiting.* [lock] suspends until the mutex is free; [tryLock] never waits, or for a limited time; [lockBlocking]
 * blocks the thread. How a process learns that another one has unlocked: see [SharedRegion.waiting].
 *
 * *Order.* First come, first served within the process, for coroutines and threads alike. Between processes there is no
 * order, and a process that locks again at once may overtake others that wait.
 *
 * *Death.* When the process of a holder ends in any way, or closes its region, the mutex is not freed: it passes to the
 * next caller with [SharedLock.abandoned] set, usually within 100 ms, which is a goal and no promise. A paused process
 * keeps its lock. The death of a single thread goes unnoticed.
 *
 * *Cancellation.* Prompt, as of [Mutex][baton.sync.Mutex]: a caller that throws holds nothing. A call that does not
 * have to wait does not check for cancellation.
 *
 * *Memory.* Actions before a [SharedLock.close], on [SharedRegion.bytes] or otherwise, happen before the actions that
 * follow the next lock in any process. A failed [tryLock] publishes and sees nothing.
 *
 * *Misuse.* The mutex is not reentrant: a second lock within the section waits for itself. Two open regions of one file
 * do not share their locks, even in one process. A `StackOverflowError` within a call may leave the mutex locked until
 * the region is closed or the process ends. After [SharedRegion.close] all calls throw [SharedRegionException].
 *
 * All members may be called from any thread.
 */
public class SharedMutex internal constructor(@get:JvmSynthetic internal val core: SharedMutexCore) {
    /** Its name in the region. */
    public val name: String
        get() = core.name

    /**
     * The id of the process that holds the mutex; null if no process does. It is the id in the pid namespace of that
     * process, and may be that of a process that has died and whose lock no caller has taken. The lock may pass on
     * while this is read: for reports, not for decisions.
     *
     * @throws SharedRegionException if the region has ended.
     */
    public val holder: Long?
        get() {
            core.checkOpen()
            return core.holder
        }

    /**
     * Locks the mutex, waiting for it if necessary.
     *
     * *Cancellation.* Throws and holds nothing.
     *
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun lock(): SharedLock = core.lock()

    /**
     * Locks if that needs no waiting; null otherwise. It may take the lock of a dead process, and finds a death within
     * 25 ms of repeated calls.
     *
     * @throws SharedRegionException if the region has ended.
     */
    public fun tryLock(): SharedLock? = core.tryLock()

    /**
     * Locks, waiting [timeout] at most, in the clock of the caller's dispatcher. When it returns null the caller holds
     * nothing. With zero or less it does not wait.
     *
     * *Cancellation.* As [lock].
     *
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    public suspend fun tryLock(timeout: Duration): SharedLock? {
        val atOnce = core.tryLock()
        if (atOnce != null || timeout <= Duration.ZERO) return atOnce
        return orNullAfter(timeout) { core.lock() }
    }

    /** As [lock], or throws [PermitTimeoutException]. Inlined bodies call it: it stays in their bytecode. */
    @PublishedApi
    @JvmSynthetic
    internal suspend fun lockWithin(timeout: Duration): SharedLock =
        tryLock(timeout) ?: throw FlightEvents.late("not locked within $timeout: ", this)

    /**
     * Locks, blocking the thread while it waits.
     *
     * @throws InterruptedException if the thread is interrupted before it holds the lock; it holds nothing then.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun lockBlocking(): SharedLock = checkNotNull(core.lockBlocking(Parking.FOREVER))

    /**
     * As [lockBlocking], but waits [timeout] at most, and returns null if the lock was not free in time. With zero or
     * less it does not wait.
     *
     * @throws InterruptedException if the thread is interrupted before it holds the lock; it holds nothing then.
     * @throws SharedRegionException if the region has ended, or ends while the caller waits.
     */
    @Throws(InterruptedException::class)
    public fun lockBlocking(timeout: JavaDuration): SharedLock? =
        core.lockBlocking(timeout.toKotlinDuration().inWholeNanoseconds)

    /**
     * The condition [name] of this mutex; each call returns the same one. Each mutex has its own names of conditions.
     *
     * @throws IllegalArgumentException if [name] is not 1 to 64 bytes of UTF-8.
     * @throws SharedRegionException if there is no room, or the region has ended.
     */
    public fun condition(name: String): SharedCondition = SharedCondition(core.condition(name))

    override fun toString(): String {
        val state = if (core.isLocked) "locked" + core.holder?.let { " by process $it" }.orEmpty() else "free"
        return "$core ($state, waiting = ${core.waiting})"
    }
}

/**
 * Runs [block] while holding the mutex, and unlocks it however [block] ends.
 *
 * If a holder died, [repair] runs first, holding the lock. When it returns, the data count as consistent again, and
 * [block] runs; when it throws, the lock is freed with its mark, and the next holder is told, too.
 *
 * @param repair by default it throws [AbandonedLockException].
 * @throws SharedRegionException if the region has ended, or ends while the caller waits.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> SharedMutex.withLock(
    repair: (SharedLock) -> Unit = { throw AbandonedLockException("a holder of $this died in its section") },
    block: (SharedLock) -> T,
): T {
    contract { callsInPlace(block, InvocationKind.AT_MOST_ONCE) }
    return lock().hold(repair, block)
}

/**
 * As [withLock] without a timeout, but waits [timeout] at most for the lock, as [SharedMutex.tryLock] does. [repair]
 * and [block] may take as long as they take.
 *
 * @throws PermitTimeoutException if the lock was not free in time; neither [repair] nor [block] has run.
 * @throws SharedRegionException if the region has ended, or ends while the caller waits.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> SharedMutex.withLock(
    timeout: Duration,
    repair: (SharedLock) -> Unit = { throw AbandonedLockException("a holder of $this died in its section") },
    block: (SharedLock) -> T,
): T {
    contract { callsInPlace(block, InvocationKind.AT_MOST_ONCE) }
    return lockWithin(timeout).hold(repair, block)
}

/** For the inlined bodies of `withLock` alone. */
@OptIn(ExperimentalContracts::class)
@PublishedApi
@JvmSynthetic
internal inline fun <T> SharedLock.hold(repair: (SharedLock) -> Unit, block: (SharedLock) -> T): T {
    contract { callsInPlace(block, InvocationKind.AT_MOST_ONCE) }
    use { lock ->
        if (lock.abandoned) {
            repair(lock)
            lock.markConsistent()
        }
        return block(lock)
    }
}
