package baton.waiting

import baton.InternalBatonApi
import baton.waiting.threads.Trampoline
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.Job

/**
 * A waiting caller: a coroutine, a clause of a `select`, a Java future, or a thread. One queue holds all four kinds.
 *
 * ```
 *                enqueue                     core, under its lock
 *  PREPARING ──────────────▶ WAITING ────────────────────────────▶ GRANTED   it holds what it waited for
 *      │ │                      │ └──────────────────────────────▶ FAILED    closed, or can never succeed any more
 *      │ │ canceller, timer     │ canceller, timer, under its lock
 *      │ └─────────────────────▶└────────────────────────────────▶ CANCELLED · TIMED_OUT
 *      │
 *      └───▶ GATHERING   as WAITING, in a [WaiterBatch], which the waking thread grants without the lock
 *
 *  a coroutine:              GRANTED · FAILED · CANCELLED · TIMED_OUT ──▶ ARRIVED   it resumes, on its dispatcher
 *                            ARRIVED with a grant ──▶ CACHED ──▶ PREPARING   its next wait (WaiterCache)
 *  a clause of a `select`:   GRANTED ──▶ TAKEN      its select runs with it
 *                                └─────▶ RETURNED   its select lost it; the grant goes to the next waiter
 * ```
 * - A waiter is WAITING while it is in a queue of its core (a coroutine at a condition: while its entry is). The lock
 *   of the core guards that state, so leaving it is a plain store. A canceller or timer takes the lock, moves the
 *   waiter out of the queue ([WaitCore.leaveQueue]), and then resumes it. From ARRIVED to CACHED to PREPARING the
 *   waiter belongs to one thread, whose steps are release stores. Every other arrow is one atomic step on [state]. So
 *   exactly one of core, canceller and timer decides, and a withdrawn waiter holds nothing.
 * - A canceller that moves the waiter out of PREPARING does no more: the thread that is about to enqueue has not
 *   suspended, and throws by itself. The core may also grant or fail a PREPARING waiter within `enqueue`.
 * - A coroutine arrives once. A dispatcher may run a block twice, or throw after it has queued the block, so that a
 *   substitute runs too: the second arrival finds ARRIVED and does nothing.
 * - A grant whose receiver cannot take it (a coroutine cancelled before it was dispatched) goes back by
 *   [WaitCore.giveBack] before the exception is visible. For a clause of a `select` see [ClauseWaiter].
 *
 * [previous], [next], [queue], [number] and [place] are guarded by the lock of [core].
 *
 * @property request what it asks of its core, in a type of that core.
 * @property number how much it asks for; or a number that its core gives it.
 */
@InternalBatonApi
public abstract class Waiter(
    @JvmField public var core: WaitCore,
    @JvmField public var number: Int,
    @JvmField public var request: Any?,
) : Wakeup() {
    @Volatile private var state: Int = PREPARING

    @JvmField internal var previous: Waiter? = null

    @JvmField internal var next: Waiter? = null

    /** The queue in which it stands, a list of [previous] and [next]; null in none. */
    @JvmField internal var queue: WaitQueue? = null

    /** Where in its core it stands, if the core keeps that: its batch. As [number]. */
    @JvmField internal var place: Any? = null

    /**
     * Why it FAILED, or what it was GRANTED if the core says so. While it is queued, its [KnownCaller] or else its
     * [note]: they share a field so that no waiter grows by them. Has no meaning in another state.
     */
    @JvmField internal var outcome: Any? = null

    /** The note of when the wait began; null if there is none. Only while it is queued, under the lock of [core]. */
    internal var note: WaitNote?
        get() = outcome.let { if (it is KnownCaller) it.wait else it as? WaitNote }
        set(value) {
            val known = outcome
            if (known is KnownCaller) known.wait = value else outcome = value
        }

    /** Whether [resume] may run the waiter's code on its caller's stack, with nothing to keep that flat. */
    protected open val resumesOnCallersStack: Boolean
        get() = false

    /** Whether the waiter can be invited to [WaitCore.claim] instead of being granted. */
    internal open val invitable: Boolean
        get() = false

    /** No later wait of its coroutine may use it, see WaiterCache. */
    internal open fun serveOnce() {}

    /** Whether a cancellation comes too late once the waiter's batch has ended, as a timeout does; true of threads. */
    protected open val staysWithItsBatch: Boolean
        get() = false

    /** The context of its coroutine, if it has one. */
    internal open val coroutine: CoroutineContext?
        get() = null

    /** The name of its coroutine or thread; null if it has none. */
    public open fun nameOrNull(): String? = coroutine?.get(CoroutineName)?.name

    /** The name of the one that waits, for messages, where there is neither a name nor an owner. */
    public open fun describe(): String = coroutine?.get(Job)?.toString() ?: "a waiter"

    /** The select that it is a clause of, if it is one. */
    internal open val selectId: Any?
        get() = null

    /**
     * Whether what it is granted may still come back after [resume] has returned true, until it calls
     * [WaitCore.arrived].
     */
    protected open val confirms: Boolean
        get() = false

    internal val isConfirming: Boolean
        get() = confirms

    /** One of the constants below. */
    public val currentState: Int
        get() = state

    /** Hands over the grant. False when it has no receiver any more, in which case nothing was handed over. */
    protected abstract fun resume(): Boolean

    /** Hands over [WaitCore.failure]. */
    protected abstract fun resumeFailed()

    /** The exception of a waiter that was cancelled, or could not take its grant; null if it has none. */
    internal open fun whyWithdrawn(): Throwable? = null

    /**
     * Has the waiter call [WaitCore.claim] of [from] on its dispatcher; it may have been granted or withdrawn
     * meanwhile.
     */
    internal open fun invite(from: WaitCore) {}

    /**
     * Withdraws the waiter: moves it to [to] and out of the queue, and admits the waiters for which that makes room.
     *
     * @return the state it was in: [WAITING] when the caller is the one to resume it, [PREPARING] when the thread that
     *   is about to enqueue is, or a final state when it is too late.
     */
    public fun withdraw(to: Int): Int {
        while (true) {
            when (val now = state) {
                PREPARING -> if (STATE.compareAndSet(this, PREPARING, to)) return PREPARING
                WAITING -> if (core.leaveQueue(this, to)) return WAITING
                GATHERING -> {
                    val was =
                        if (to == TIMED_OUT || staysWithItsBatch) core.leaveUndecided(this, to) else leaveBatch(to)
                    if (was != PREPARING) return was
                }
                else -> return now
            }
        }
    }

    /** Whether its wait is undecided. */
    public val isWaiting: Boolean
        get() = state.let { it == WAITING || it == GATHERING }

    /** From PREPARING to WAITING, in the step that puts it into a queue; false when it was withdrawn. */
    internal fun startWaiting(): Boolean = STATE.compareAndSet(this, PREPARING, WAITING)

    /** As [startWaiting], for a batch. */
    internal fun startGathering(): Boolean = STATE.compareAndSet(this, PREPARING, GATHERING)

    /** From WAITING; in the step that takes it out of its queue. As the next two, core only, under its lock. */
    internal fun leaveQueue(to: Int) {
        STATE.setRelease(this, to)
    }

    /**
     * From WAITING, of a waiter that is in no queue, because a decision of [at] ran out of memory or stack. Under the
     * lock of [at]. The state is read first: if it is of a later wait than the one at [at], so is [core].
     */
    internal fun leaveStranded(at: WaitCore, to: Int): Boolean =
        state == WAITING && core === at && STATE.compareAndSet(this, WAITING, to)

    /** As [leaveQueue]. */
    internal fun grantQueued() {
        leaveQueue(GRANTED)
    }

    /** As [leaveQueue]. The reason first: a thread that finds it FAILED asks for [WaitCore.failure] at once. */
    internal fun failQueued(reason: Any) {
        outcome = reason
        leaveQueue(FAILED)
    }

    /** Returns PREPARING if it does not gather any more. */
    internal fun leaveBatch(to: Int): Int {
        if (!tryLeaveBatch(to)) return PREPARING
        core.withdrawMember(this)
        return WAITING
    }

    /** From GATHERING; it must be taken out of its batch then. */
    internal fun tryLeaveBatch(to: Int): Boolean = STATE.compareAndSet(this, GATHERING, to)

    /**
     * From PREPARING or GATHERING; false when it was withdrawn. Core only, under its lock, or the thread that wakes its
     * [WaiterBatch].
     */
    internal fun tryGrant(): Boolean = tryEnd(GRANTED)

    /** As [tryGrant]. The reason first: a canceller that finds it FAILED asks for [WaitCore.failure] at once. */
    internal fun tryFail(reason: Any): Boolean {
        outcome = reason
        return tryEnd(FAILED)
    }

    /**
     * To ARRIVED, from a state that ends the wait. Returns that state: ARRIVED for all callers but the first. A caller
     * that comes late may find a later wait of the coroutine, which it leaves alone until that has ended, too.
     */
    internal fun leaveForArrival(): Int {
        if (STATE.compareAndSet(this, GRANTED, ARRIVED)) return GRANTED
        val before = state
        return if (before in FAILED..TIMED_OUT && STATE.compareAndSet(this, before, ARRIVED)) before else ARRIVED
    }

    /** From ARRIVED to CACHED; its coroutine's thread only. */
    internal fun enterCache() {
        STATE.setRelease(this, CACHED)
    }

    /** From CACHED to PREPARING; the thread that has taken it out of the cache. */
    internal fun prepareAgain() {
        STATE.setRelease(this, PREPARING)
    }

    /** From GRANTED to TAKEN; false when the grant was returned. */
    protected fun tryTake(): Boolean = STATE.compareAndSet(this, GRANTED, TAKEN)

    /** From GRANTED to RETURNED; the one caller that succeeds takes the grant back, in the same step of the core. */
    internal fun tryReturn(): Boolean = STATE.compareAndSet(this, GRANTED, RETURNED)

    private fun tryEnd(to: Int) = STATE.compareAndSet(this, if (state == GATHERING) GATHERING else PREPARING, to)

    internal override fun arrive(): Wakeup? {
        if (!resumesOnCallersStack) return arriveNow()
        Trampoline.run { arriveNow()?.let(::wakeAll) }
        return null
    }

    private fun arriveNow(): Wakeup? {
        if (state == FAILED) resumeFailed() else if (!resume()) return core.reclaim(this).also { refused() }
        return null
    }

    /** It could not be resumed with its grant, which it has lost unless it has taken it all the same. */
    protected open fun refused() {}

    /** The states. */
    public companion object {
        public const val PREPARING: Int = 0
        public const val WAITING: Int = 1
        public const val GRANTED: Int = 2
        public const val FAILED: Int = 3
        public const val CANCELLED: Int = 4
        public const val TIMED_OUT: Int = 5
        public const val TAKEN: Int = 6
        public const val RETURNED: Int = 7

        internal const val GATHERING = 8

        /** From here on the wait is over. */
        internal const val ARRIVED = 9
        internal const val CACHED = 10

        private val STATE: VarHandle =
            MethodHandles.lookup().findVarHandle(Waiter::class.java, "state", Int::class.javaPrimitiveType)
    }
}
