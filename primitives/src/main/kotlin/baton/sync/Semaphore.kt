package baton.sync

import baton.bridge.IDLE_WEIGHT
import baton.priority
import baton.waiting.boost.liftable
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import kotlin.contracts.ExperimentalContracts
import kotlin.contracts.InvocationKind
import kotlin.contracts.contract
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.selects.SelectClause2
import kotlinx.coroutines.selects.SelectInstance

/**
 * A number of permits, of which every caller may take one or several at once: the bound on how much goes on at the same
 * time. A request for several gets all of them in one step or waits; it never holds a part.
 *
 * *Waiting.* [acquire] suspends until the permits are handed over; [tryAcquire] never waits, or for a limited time.
 *
 * *Order.* See [WaitOrder]; by default strictly first come, first served, for coroutines, `select` clauses and the
 * futures of the Java face alike. One [release] admits exactly the waiters at the head that now fit; while the head is
 * too heavy for what is free, nobody overtakes it, except under [WaitOrder.UNFAIR]. So it is with permits going from
 * hand to hand: no newcomer slips in between, except under that order.
 *
 * *Cancellation.* Prompt: whoever is cancelled while it waits, or after the hand-over but before it runs, throws and
 * holds nothing; what it leaves behind goes to those in line first. A heavy waiter that leaves lets in at once those
 * behind it that fit. A call that need not wait does not look for cancellation.
 *
 * *Memory.* What happens before a [release] happens before whatever follows an [acquire] or successful [tryAcquire]
 * that takes one of its permits. A failed [tryAcquire] publishes and sees nothing.
 *
 * *Boosting.* While there is one permit only, its holder is lifted as that of a [Mutex] is. Of several permits it is
 * not known whose a waiter waits for, and nobody is lifted.
 *
 * *Misuse.* Releasing more than is held throws [IllegalStateException] and changes nothing (it may go unnoticed where
 * it races with a [resize] or with waiters that are being cancelled). Permits have no owner: whether the caller is
 * among the holders is not checked. A request for fewer than 1 permit, or for more than there can ever be,
 * throws [IllegalArgumentException] at once (after [close], the latter throws what all requests do).
 *
 * All members may be called from any thread.
 *
 * @param permits how many there are, at least 1.
 * @param acquired how many of them are held from the start, 0 to [permits].
 * @property order in which waiters are let in.
 * @property name shown by messages and [toString].
 */
public class Semaphore(
    permits: Int,
    acquired: Int = 0,
    public val order: WaitOrder = WaitOrder.FIFO,
    public val name: String? = null,
) {
    internal val core: SemaphoreCore

    init {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
        require(acquired in 0..permits) { "acquired = $acquired, must be within 0..$permits, the permits" }
        core = SemaphoreCore(permits, acquired, order, ::label)
    }

    /** How many permits there are. After shrinking by [resize], more than that may still be held. */
    public val permits: Int get() = core.permits

    /** How many permits nobody holds, also while a waiter at the head needs more than that. Never negative. */
    public val availablePermits: Int get() = core.availablePermits

    /** How many callers wait for permits, whatever their number. [awaitIdle] does not count. */
    public val waiting: Int get() = core.waiting

    /**
     * Waits until [permits] are this caller's.
     *
     * *Cancellation.* Throws holding nothing; the place in the queue is given up at once.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits]; also when a [resize] makes
     *   it so while the caller waits.
     * @throws SemaphoreClosedException if the semaphore is closed, before or meanwhile.
     */
    public suspend fun acquire(permits: Int = 1) {
        checkWeight(permits)
        val holder = liftable()
        if (core.tryTake(permits, holder)) return
        awaitGrant(core, permits, tag(coroutineContext))
    }

    /**
     * Takes [permits] if that needs no waiting. Never takes what a waiter is before it for, unless the order is
     * [WaitOrder.UNFAIR].
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits].
     * @throws SemaphoreClosedException if the semaphore is closed.
     */
    public fun tryAcquire(permits: Int = 1): Boolean {
        checkWeight(permits)
        return core.tryTake(permits)
    }

    /**
     * Takes [permits], waiting [timeout] at most, in the clock of the caller's dispatcher. When it answers false
     * nothing is held, however close the hand-over was. Zero or negative means now or not at all.
     *
     * *Cancellation.* As [acquire].
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits]; also when a [resize] makes
     *   [permits] too many while the caller waits.
     * @throws SemaphoreClosedException if the semaphore is closed, before or meanwhile.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): Boolean {
        checkWeight(permits)
        if (core.tryTake(permits, liftable())) return true
        if (timeout <= Duration.ZERO) return false
        return awaitGrant(core, permits, tag(coroutineContext), timeout)
    }

    /**
     * Gives back [permits], first of all to those who wait. Never suspends. Not bound to the acquiring calls: what was
     * taken by `acquire(3)` may be released one by one.
     *
     * @throws IllegalArgumentException if [permits] is below 1.
     * @throws IllegalStateException if fewer than [permits] are held; nothing is released.
     */
    public fun release(permits: Int = 1) {
        requireAtLeastOne(permits)
        if (!core.release(permits)) {
            val state = toString()
            throw IllegalStateException("release of permits = $permits, more than are held: $state")
        }
    }

    /**
     * Changes the number of permits. Growing lets in those who now fit. Shrinking takes nothing from holders: what is
     * held beyond the new number is a debt, and what is released pays it off before anybody gets a permit. A waiter
     * that asks for more than the new number fails as a newcomer would, with [IllegalArgumentException]. Shrinking
     * costs O(waiters), growing O(those let in).
     *
     * @throws IllegalArgumentException if [permits] is below 1.
     * @throws SemaphoreClosedException if the semaphore is closed.
     */
    public fun resize(permits: Int) {
        requireAtLeastOne(permits)
        if (!core.resize(permits)) throw core.closedException()
    }

    /**
     * Ends the semaphore: all waiters, and whoever asks from now on, get a [SemaphoreClosedException] with this
     * [cause]. Holders may still release, and [awaitIdle] still works. A second close changes nothing.
     */
    public fun close(cause: Throwable? = null) {
        core.close(cause)
    }

    /**
     * Waits until all permits are back: until a moment at which nobody held one. It takes none and bars nobody, so it
     * says nothing about the moment after. Returns at once if nobody holds one. A permit on its way to a waiter counts
     * as held.
     *
     * While somebody waits here, no operation takes the fast path.
     *
     * *Cancellation.* Throws; there is nothing to give back.
     */
    public suspend fun awaitIdle() {
        if (core.isIdle) return
        awaitGrant(core, IDLE_WEIGHT, tag = null)
    }

    /**
     * Acquires within kotlinx.coroutines' `select`; the parameter is the number of permits, null for 1. The block gets
     * this semaphore and owns the permits. A clause that loses, or whose select is cancelled, holds nothing. What
     * [acquire] would throw, the select throws.
     */
    public val onAcquire: SelectClause2<Int?, Semaphore> get() = SelectClauses.clause2(Clause())

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause : SelectableCore() {
        override fun valueOf(winner: SelectWaiter): Semaphore = this@Semaphore

        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter {
            val permits = param as Int? ?: 1
            checkWeight(permits)
            return SelectWaiter(core, permits, tag(select.context), clause, select)
        }
    }

    private fun tag(context: CoroutineContext) = if (order == WaitOrder.PRIORITY) context.priority else null

    internal fun checkWeight(permits: Int) {
        if (permits == 1) return // there always is one
        requireAtLeastOne(permits)
        if (permits > core.permits) throw core.refusal(permits)
    }

    private fun requireAtLeastOne(permits: Int) {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
    }

    private fun label() = if (name == null) "Semaphore" else "Semaphore '$name'"

    override fun toString(): String {
        val closed = if (core.isClosed) ", closed" else ""
        return "${label()} (permits = $permits, available = $availablePermits, waiting = $waiting$closed)"
    }
}

/**
 * Runs [action] while holding one permit, and releases it however [action] ends. Throws what [Semaphore.acquire] does.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Semaphore.withPermit(action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    return withPermits(1, action)
}

/**
 * Runs [action] while holding [permits], and releases them however [action] ends. Throws what [Semaphore.acquire] does.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Semaphore.withPermits(permits: Int, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    acquire(permits)
    try {
        return action()
    } finally {
        release(permits)
    }
}
