package baton.waiting

import baton.InternalBatonApi
import baton.waiting.clock.BoundClock
import baton.waiting.clock.ClockOwner
import baton.waiting.threads.Timeouts
import baton.waiting.threads.TinyLock
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.DisposableHandle

/**
 * The base of every primitive's core: a tiny lock, and the list of wake-ups to run once it is free again.
 *
 * ```
 * caller → API (suspend function · select clause · future · blocking call) → core decides, under its lock
 *                                                                          → wake-ups, after the lock
 * ```
 * 1. Under the lock there is no user code, no resumption, no allocation of exceptions and no waiting. Nor is there a
 *    `when` over an enum: the JVM would load a class for it there, which stays broken if the stack has no room left.
 * 2. A decision chains its wake-ups through [Wakeup.chain] while the lock is held, in the order of the decisions.
 *    [decide] runs them after the lock is free.
 * 3. Locks of two cores are never held together.
 */
@InternalBatonApi
public abstract class WaitCore : TinyLock(), ClockOwner {
    @JvmField internal var firstToWake: Wakeup? = null

    @JvmField internal var lastToWake: Wakeup? = null

    @JvmField internal var toInvite: Waiter? = null

    /** Null until the core is to know a holder or a waiter. Guarded by the lock. */
    @JvmField internal var knownHolders: KnownHolders? = null

    /** The greatest number of waiters since the last [lookAtWaiters], which hands it to all readers of [watch]. */
    @JvmField internal var peakWaiting: Int = 0

    /** Whether waits are noted; null until the first [lookAtWaiters]. Written under the lock. */
    @Volatile @JvmField internal var watch: WaitWatch? = null

    /**
     * Grants [waiter] or puts it into the queue. It is [Waiter.GRANTED], [Waiter.FAILED], [Waiter.WAITING] or withdrawn
     * when this returns, and the result says which of them it was at that moment. A waiter that was withdrawn before
     * this is called is not granted; the core does what that withdrawal entails.
     */
    public abstract fun enqueue(waiter: Waiter): Int

    /**
     * Moves [waiter] from [Waiter.WAITING] to [to] and out of its queue, and admits the waiters for which that makes
     * room. False if it is in no queue of this core (any more): its state needs another look.
     */
    internal open fun leaveQueue(waiter: Waiter, to: Int): Boolean = decide { leaveUnderLock(waiter, to) }

    /** As [leaveQueue], under the lock. */
    internal fun leaveUnderLock(waiter: Waiter, to: Int): Boolean {
        if (!isQueued(waiter)) return waiter.leaveStranded(this, to)
        waiter.leaveQueue(to)
        removeWithdrawn(waiter)
        return true
    }

    /** Whether [waiter], which may by now wait elsewhere, is in a queue of this core. Under the lock. */
    internal open fun isQueued(waiter: Waiter): Boolean = false

    /** Takes [waiter], which [isQueued] and is withdrawn, out of its queue, and admits others. Under the lock. */
    internal open fun removeWithdrawn(waiter: Waiter) {}

    /** Takes a waiter that a canceller has just moved out of [Waiter.GATHERING] out of its batch. */
    internal open fun withdrawMember(waiter: Waiter) {}

    /**
     * Moves [waiter], a member of a batch that serves once, to the state [to] and out of the batch if its wait is
     * undecided. Called for a timeout, and for the cancellation of a waiter that stays with its batch.
     *
     * @return [Waiter.WAITING]; [Waiter.GRANTED] when its wait is decided, though its state may not show that yet;
     *   [Waiter.PREPARING] when another look at its state is needed.
     */
    internal open fun leaveUndecided(waiter: Waiter, to: Int): Int = waiter.leaveBatch(to)

    /** Takes back, under the lock, what was granted to [waiter], and passes it on. */
    internal abstract fun takeBack(waiter: Waiter)

    /** The core whose lock guards the waiters, [peakWaiting] and [watch]. */
    internal open val guard: WaitCore
        get() = this

    /** How many waiters [visitWaiters] can visit. Under the lock. */
    internal open val queuedWaiters: Int
        get() = 0

    /**
     * Calls [visit] for the waiters that ask for what the primitive has: of each queue at most [limit], the one that
     * came first to begin with. Under the lock, so [visit] must not call users' code.
     */
    internal open fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {}

    /** How many waiters [visitOthers] can visit. Under the lock. */
    internal open val queuedOthers: Int
        get() = 0

    /** As [visitWaiters], for those that ask for something else: receivers of a channel, callers of `awaitIdle`. */
    internal open fun visitOthers(limit: Int, visit: (Waiter) -> Unit) {}

    /** The owner that the [request] of a waiter names, in a core that has owners; else null. */
    internal open fun ownerIn(request: Any?): Any? = null

    /** Called by the waiting thread, without the lock, before it enqueues [waiter]. */
    internal fun noteWait(waiter: Waiter) {
        if (isNoted) waiter.note = WaitNote(System.nanoTime())
    }

    private val isNoted: Boolean
        get() = watch?.isOn == true || WaitNote.areTaken

    /** Instead of [noteWait], for a [waiter] that comes from another queue. Under the lock. */
    internal fun noteWaitAnew(waiter: Waiter) {
        if (waiter.note == null && !isNoted) return
        try {
            waiter.note = WaitNote(System.nanoTime())
        } catch (_: OutOfMemoryError) {
            // The waiter goes from one queue to the other without a new note.
        }
    }

    /** There are [waiting] waiters now, after one came. Under the lock. */
    internal fun countPeak(waiting: Int) {
        if (waiting > peakWaiting) peakWaiting = waiting
    }

    /** The clock of a primitive that decides by time; null of others, whose waiters alone measure time. */
    public open val clock: BoundClock?
        get() = null

    final override val ownerLabel: String
        get() = label()

    final override val isAwaited: Boolean
        get() = decide { queuedWaiters > 0 }

    /** Called by a thread that is to wait. */
    public fun requireRealTime() {
        clock?.requireReal(this)
    }

    /** Runs [action] at the end of a wait for [timeout] in [context]. Null for a timeout that never ends. */
    internal fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        val clock = clock ?: return Timeouts.schedule(timeout, context, action)
        return clock.schedule(timeout, context, action)
    }

    /** As the other, for a wait of a future. */
    public fun schedule(millis: Long, action: Runnable): DisposableHandle {
        val clock = clock ?: return Timeouts.schedule(millis, action)
        clock.requireKnown(this)
        return clock.schedule(millis, action)
    }

    /** Why [waiter] was moved to [Waiter.FAILED]; a new exception at every call, unless it [sharesFailures]. */
    public abstract fun failure(waiter: Waiter): Throwable

    /** Whether waiters get one exception, the user's: each would add its frames to it. */
    internal open val sharesFailures: Boolean
        get() = false

    /** The primitive in messages, without its state: `Semaphore 'uplink'`. */
    internal abstract fun label(): String

    /** The primitive with its state. Not to be called under the lock. */
    public abstract override fun toString(): String

    /** The call of [waiter] in messages: `acquire`. */
    public abstract fun verbOf(waiter: Waiter): String

    /** The call of [waiter] and its primitive, in messages: `acquire of Semaphore 'uplink'`. */
    public fun callOf(waiter: Waiter): String = "${verbOf(waiter)} of ${label()}"

    /** The result of the granted [waiter], of a core whose waiters get different ones; else [otherwise]. */
    public open fun grantOf(waiter: Waiter, otherwise: Any?): Any? = otherwise

    /**
     * Whether the grant of [waiter] cannot be taken back, because other threads have acted on it. It then counts as
     * served in any case.
     */
    internal open fun isFinal(waiter: Waiter): Boolean = false

    /** The granted [waiter], one that confirms, keeps its grant: the grant does not come back any more. */
    internal open fun arrived(waiter: Waiter) {}

    /** The invited [waiter] runs and takes what is free; false leaves it waiting in its place. */
    internal open fun claim(waiter: Waiter): Boolean = false

    /** Passes on the grant of [waiter], which could not take it. Called once for a refused grant. */
    internal open fun giveBack(waiter: Waiter) {
        val woken = passOn { takeBack(waiter) }
        if (woken != null) wakeAll(woken)
    }

    /**
     * Passes on the grant of [waiter], a clause that lost or a receiver that refused, unless another thread has done so
     * or the waiter has taken it. The caller wakes the returned chain. When this returns the grant is gone, whichever
     * thread has passed it on: both do so under the lock.
     */
    internal open fun reclaim(waiter: Waiter): Wakeup? = passOn { if (waiter.tryReturn()) takeBack(waiter) }

    /** As [decide], but the caller wakes the returned chain. */
    private inline fun passOn(decision: () -> Unit): Wakeup? = underLock(decision) { _, woken -> woken }

    /** Adds to the wake list. Under the lock. */
    internal fun wake(entry: Wakeup) {
        val last = lastToWake
        if (last == null) firstToWake = entry else last.chain = entry
        lastToWake = entry
    }

    /** As [wake], but in front of the list. */
    internal fun wakeFirst(entry: Wakeup) {
        val first = firstToWake
        if (first == null) lastToWake = entry else entry.chain = first
        firstToWake = entry
    }

    /** Invites [waiter] to [claim] after the lock is free. Under the lock; one at a time. */
    internal fun invite(waiter: Waiter) {
        waiter.serveOnce()
        toInvite = waiter
    }

    /** Runs [decision] under the lock, then its wake-ups, also if it throws after it has chained some. */
    internal inline fun <T> decide(decision: () -> T): T =
        underLock(decision) { result, woken ->
            if (woken != null) wakeAll(woken)
            result
        }

    /** Runs [decision], which neither wakes nor invites a waiter and changes no recorded holder, under the lock. */
    internal inline fun <T> plainly(decision: () -> T): T {
        lock()
        val result =
            try {
                decision()
            } catch (e: Throwable) {
                lockWord = 0
                throw e
            }
        unlockLazily()
        return result
    }

    /** Runs [decision] under the lock, then [wake] with its result and the wake list. */
    internal inline fun <T, R> underLock(decision: () -> T, wake: (T, Wakeup?) -> R): R {
        lock()
        val result =
            try {
                decision().also { if (knownHolders != null) prepareBoosts() }
            } catch (e: Throwable) {
                // No call before the lock is free: it is released also where the stack has no room left for one.
                val woken = firstToWake
                val invited = toInvite
                firstToWake = null
                lastToWake = null
                toInvite = null
                lockWord = 0
                if (woken != null || invited != null) wakeAfterFailure(woken, invited)
                throw e
            }
        val woken = firstToWake
        val invited = toInvite
        if (woken != null) {
            firstToWake = null
            lastToWake = null
        }
        if (invited != null) toInvite = null
        unlockLazily()
        val answer = wake(result, woken)
        invited?.invite(this)
        return answer
    }

    /** The grants of a decision that has thrown are final. */
    internal fun wakeAfterFailure(woken: Wakeup?, invited: Waiter?) {
        if (woken != null) wakeAll(woken)
        invited?.invite(this)
    }

    /** At the end of a decision. Under the lock. */
    internal fun prepareBoosts() {
        val known = knownHolders
        if (known != null && known.isDue()) wakeFirst(known)
    }
}
