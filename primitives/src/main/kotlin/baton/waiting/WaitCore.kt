package baton.waiting

import baton.waiting.boost.PriorityInheritance
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.concurrent.locks.LockSupport

/**
 * What every primitive's core is built on: a tiny lock, and the list of those to wake once it is free again.
 *
 * ```
 * caller → skin (suspend function · select clause · future) → core decides, under its lock
 *                                                           → wake-ups, after the lock
 * ```
 * 1. Under the lock there is no user code, no resumption, no allocation of exceptions and no waiting.
 * 2. Who is to be woken is chained through [Wakeup.chain] while the lock is held, in the order of the decisions, and
 *    woken by [decide] after the lock is free.
 * 3. Locks of two cores are never held together.
 *
 * The lock is a spin lock because what it guards is a few dozen instructions. A holder that was preempted is given
 * the processor (yield), and if that does not help, time (parkNanos).
 */
@InternalBatonApi
public abstract class WaitCore {
    @Volatile
    @JvmField
    internal var lockWord: Int = 0

    @JvmField internal var firstToWake: Wakeup? = null

    @JvmField internal var lastToWake: Wakeup? = null

    @JvmField internal var toInvite: Waiter? = null

    /** Who is lifted for whom; null until that is of interest. Guarded by the lock. */
    @JvmField internal var inheritance: PriorityInheritance? = null

    /**
     * Lets [waiter] in or puts it into the queue. It is [Waiter.GRANTED], [Waiter.FAILED], [Waiter.WAITING] or
     * withdrawn when this returns, and the answer says which of them it was at that moment. A waiter that was withdrawn
     * before this is called is not granted anything; the core does what that withdrawal entails.
     */
    public abstract fun enqueue(waiter: Waiter): Int

    /** Takes a waiter that has just left the state [Waiter.WAITING] by itself out of the queue. */
    internal abstract fun withdraw(waiter: Waiter)

    /**
     * The time of [waiter], which has a timer and so serves once, is over: takes it out of the queue.
     *
     * @return [Waiter.WAITING]; [Waiter.GRANTED] when its wait is decided, though it may not be told yet;
     *   [Waiter.PREPARING] when another look at its state is needed.
     */
    internal open fun timeOut(waiter: Waiter): Int = waiter.leave(Waiter.TIMED_OUT)

    /** Takes back, under the lock, what was granted to [waiter], and passes it on. */
    internal abstract fun takeBack(waiter: Waiter)

    /** Why [waiter] was moved to [Waiter.FAILED]; a new exception at every call. */
    public abstract fun failure(waiter: Waiter): Throwable

    /** What the granted [waiter] gets, of a core that does not give the same to all; else [otherwise]. */
    public open fun grantOf(waiter: Waiter, otherwise: Any?): Any? = otherwise

    /**
     * Whether what was granted to [waiter] cannot be taken back: others have it. It then counts as served, come what
     * may.
     */
    internal open fun isFinal(waiter: Waiter): Boolean = false

    /** The granted [waiter], one that confirms, keeps what it was granted: it does not come back any more. */
    internal open fun arrived(waiter: Waiter) {}

    /** The invited [waiter] has the processor and takes what it can; false leaves it waiting where it stands. */
    internal open fun claim(waiter: Waiter): Boolean = false

    /** Passes on what was granted to [waiter], who could not take it. Called once for a refused grant. */
    internal open fun giveBack(waiter: Waiter) {
        val woken = passOn { takeBack(waiter) }
        if (woken != null) wakeAll(woken)
    }

    /**
     * Passes on what was granted to [waiter], a clause that lost or a receiver that refused, unless another thread has
     * done so or the waiter has taken it. Leaves it to the caller to wake those whom it returns. When it returns the
     * grant is gone, whichever thread has passed it on: both do it under the lock.
     */
    internal open fun reclaim(waiter: Waiter): Wakeup? = passOn { if (waiter.tryReturn()) takeBack(waiter) }

    /** As [decide], but leaves it to the caller to wake those whom this returns. */
    private inline fun passOn(decision: () -> Unit): Wakeup? = underLock(decision) { _, woken -> woken }

    /** Adds to those who are woken after the lock is free. Under the lock. */
    protected fun wake(entry: Wakeup) {
        val last = lastToWake
        if (last == null) firstToWake = entry else last.chain = entry
        lastToWake = entry
    }

    private fun wakeFirst(entry: Wakeup) {
        val first = firstToWake
        if (first == null) lastToWake = entry else entry.chain = first
        firstToWake = entry
    }

    /** Has [waiter] come and [claim] after the lock is free. Under the lock; one at a time. */
    protected fun invite(waiter: Waiter) {
        waiter.servesOnce = true
        toInvite = waiter
    }

    /** Runs [decision] under the lock, then wakes whom it chose. It must not throw once it has chosen somebody. */
    internal inline fun <T> decide(decision: () -> T): T =
        underLock(decision) { result, woken ->
            if (woken != null) wakeAll(woken)
            result
        }

    /** Runs [decision] under the lock, then [wake] with its result and the wake list. */
    internal inline fun <T, R> underLock(decision: () -> T, wake: (T, Wakeup?) -> R): R {
        var woken: Wakeup? = null
        var invited: Waiter? = null
        lock()
        val result =
            try {
                decision().also { if (inheritance != null) prepareBoosts() }
            } finally {
                // Nothing here is a call: where the stack has no room left for one, the lock is released all the same.
                woken = firstToWake
                invited = toInvite
                firstToWake = null
                lastToWake = null
                toInvite = null
                lockWord = 0
            }
        val answer = wake(result, woken)
        invited?.invite(this)
        return answer
    }

    /** At the end of a decision. Under the lock. */
    internal fun prepareBoosts() {
        val boosts = inheritance
        if (boosts != null && boosts.isDue()) wakeFirst(boosts)
    }

    internal fun lock() {
        if (!LOCK.compareAndSet(this, 0, 1)) lockSlowly()
    }

    internal fun unlock() {
        lockWord = 0
    }

    private fun lockSlowly() {
        var tries = 0
        while (true) {
            if (lockWord == 0 && LOCK.compareAndSet(this, 0, 1)) return
            tries++
            when {
                tries < SPINS -> Thread.onSpinWait()
                tries < SPINS + YIELDS -> Thread.yield()
                else -> LockSupport.parkNanos(PAUSE_NANOS)
            }
        }
    }

    private companion object {
        private const val SPINS = 64
        private const val YIELDS = 64
        private const val PAUSE_NANOS = 50_000L

        private val LOCK: VarHandle =
            MethodHandles.lookup().findVarHandle(WaitCore::class.java, "lockWord", Int::class.javaPrimitiveType)
    }
}
