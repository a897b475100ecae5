package baton.sync

import baton.CallGuard
import baton.PermitTimeoutException
import baton.monitoring.Monitored
import baton.monitoring.Usage
import baton.monitoring.core.listIfNamed
import baton.monitoring.toUsage
import baton.priority
import baton.sync.core.IDLE_WEIGHT
import baton.sync.core.SemaphoreCore
import baton.waiting.coroutine.SelectClauses
import baton.waiting.coroutine.SelectWaiter
import baton.waiting.coroutine.SelectableCore
import baton.waiting.coroutine.awaitGrant
import baton.waiting.coroutine.isExplored
import baton.waiting.flight.FlightEvents
import baton.waiting.holders.DeadlockDetection
import baton.waiting.holders.Holder
import baton.waiting.holders.KnownCallers
import baton.waiting.holders.callerByOwner
import baton.waiting.holders.callerOf
import baton.waiting.lookAtWaiters
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
 * A counting semaphore for coroutines: it bounds how much work runs at the same time. A caller takes one or several
 * permits in one step, or waits; a waiting request never holds a part of its permits.
 *
 * ```
 * val downloads = Semaphore(permits = 3)
 * urls.forEach { url -> launch { downloads.withPermit { download(url) } } }
 * ```
 *
 * *Waiting.* [acquire] suspends until the permits are granted; [tryAcquire] never waits, or for a limited time.
 *
 * *Order.* See [WaitOrder]; by default strictly first come, first served, for coroutines, `select` clauses and the
 * futures of the Java API alike. One [release] admits exactly the waiters at the head of the queue whose requests now
 * fit; while the request at the head is larger than the free permits, no other request overtakes it, except under
 * [WaitOrder.UNFAIR]. A release hands its permits directly to waiters: no newcomer takes them in between, except under
 * that order.
 *
 * *Cancellation.* Prompt: a caller that is cancelled while it waits, or after the grant but before it runs, throws and
 * holds nothing; its permits go to the queued waiters first. When a waiter with a large request is cancelled, the
 * waiters behind it that now fit are admitted at once. A call that does not have to wait does not check for
 * cancellation.
 *
 * *Gate.* A semaphore may have 0 permits, from the start or after a [resize]: then every request waits, whatever its
 * size, and a [resize] opens the gate.
 *
 * *Memory.* Actions before a [release] happen before the actions that follow an [acquire] or successful [tryAcquire] of
 * one of its permits. A failed [tryAcquire] publishes and sees nothing.
 *
 * *Boosting.* While there is only one permit, its holder is boosted as the holder of a [Mutex] is. With more than one
 * permit there is no single holder to boost.
 *
 * *Misuse.* A release of more permits than are held throws [IllegalStateException] and changes nothing. Permits have no
 * owner: the semaphore does not check whether the caller is one of the holders. A request for fewer than 1 permit, or
 * for more than [Semaphore.permits] (unless there are 0), which no release could grant, throws
 * [IllegalArgumentException] at once (after [close], the latter throws [SemaphoreClosedException] as all requests do).
 *
 * All members may be called from any thread.
 *
 * @param permits the number of permits, at least 0.
 * @param acquired how many of them are held from the start, 0 to [permits].
 * @property order the order in which waiters are admitted.
 */
public class Semaphore(
    permits: Int,
    acquired: Int = 0,
    public val order: WaitOrder = WaitOrder.FIFO,
    name: String? = null,
) : Monitored, CallGuard {
    // No second constructor: see Mutex.
    private var named: Any? = name
    @get:JvmSynthetic internal val core: SemaphoreCore

    /** Shown by messages and [toString]. */
    public override val name: String?
        get() = named?.toString()

    /** See [Mutex.named]. */
    @JvmSynthetic
    internal fun named(entry: Any): Semaphore {
        named = entry
        return this
    }

    init {
        requireNoneOrMore(permits)
        require(acquired in 0..permits) { "acquired = $acquired, must be within 0..$permits, the permits" }
        core = SemaphoreCore(permits, acquired, order, this)
        listIfNamed(core)
    }

    /** The number of permits. After [resize] has shrunk it, more than that may still be held. */
    public val permits: Int
        get() = core.permits

    /** How many permits are not held, also while the waiter at the head needs more than that. Never negative. */
    public val availablePermits: Int
        get() = core.availablePermits

    /** How many callers wait for permits, each counted once. Callers of [awaitIdle] do not count. */
    public val waiting: Int
        get() = core.waiting

    /** The permits that are held, at most as many as there are, and the callers that wait for permits. */
    override fun usage(): Usage {
        val look = core.lookAtWaiters()
        val permits = core.permits.toLong()
        return look.toUsage(inUse = permits - core.availablePermits.toLong().coerceAtMost(permits), permits)
    }

    /**
     * Takes [permits], waiting for them if necessary.
     *
     * *Cancellation.* Throws and holds nothing; the waiter leaves the queue at once.
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits], unless those are 0; also
     *   when a [resize] makes it so while the caller waits.
     * @throws SemaphoreClosedException if the semaphore is closed, before the call or while the caller waits.
     */
    public suspend fun acquire(permits: Int = 1) {
        checkWeight(permits)
        val by = caller()
        if (!isExplored() && core.tryTakePermits(permits, by)) return
        awaitGrant(core, permits, level(coroutineContext), by)
    }

    /**
     * Takes [permits] if that needs no waiting. Does not overtake queued waiters, unless the order is
     * [WaitOrder.UNFAIR].
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits], unless those are 0.
     * @throws SemaphoreClosedException if the semaphore is closed.
     */
    public fun tryAcquire(permits: Int = 1): Boolean {
        checkWeight(permits)
        return core.tryTakePermits(permits, by = null)
    }

    @JvmSynthetic
    internal fun tryAcquireAsThread(permits: Int): Boolean {
        checkWeight(permits)
        return core.tryTakePermits(permits, callingThread())
    }

    @JvmSynthetic internal fun drainAsThread(): Int = core.drain(callingThread())

    private fun callingThread() = if (DeadlockDetection.isOn) core.callerByOwner(Thread.currentThread()) else null

    /**
     * Takes [permits], waiting [timeout] at most, in the clock of the caller's dispatcher. When it returns false the
     * caller holds nothing, even if the grant raced with the timeout. With zero or less it does not wait.
     *
     * *Cancellation.* As [acquire].
     *
     * @throws IllegalArgumentException if [permits] is below 1 or above [Semaphore.permits], unless those are 0; also
     *   when a [resize] makes [permits] too many while the caller waits.
     * @throws SemaphoreClosedException if the semaphore is closed, before the call or while the caller waits.
     */
    public suspend fun tryAcquire(permits: Int = 1, timeout: Duration): Boolean {
        checkWeight(permits)
        val by = caller()
        if (!isExplored(timeout) && core.tryTakePermits(permits, by)) return true
        if (timeout <= Duration.ZERO) return false
        return awaitGrant(core, permits, level(coroutineContext), timeout, by)
    }

    /**
     * Takes all permits that are free, and returns how many; 0 if none is free, or if a caller waits that this would
     * overtake. Never waits. The caller holds them, and releases them.
     *
     * @throws SemaphoreClosedException if the semaphore is closed.
     */
    public fun drain(): Int = core.drain(by = null)

    /**
     * Returns [permits], which go to queued waiters first. Never suspends. A release need not match one acquire: the
     * permits of `acquire(3)` may be released one by one.
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
     * Runs [block] while holding one permit, and releases it however [block] ends.
     *
     * @throws PermitTimeoutException if the permit is not granted within [maxWait]; otherwise throws as [acquire].
     */
    override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
        if (maxWait == Duration.INFINITE) acquire() else acquireWithin(1, maxWait)
        try {
            return block()
        } finally {
            release()
        }
    }

    /**
     * Changes the number of permits. Growing admits the waiters that now fit. Shrinking takes no permits from holders:
     * permits held beyond the new number are a debt, and releases pay it off before a waiter gets a permit. A waiter
     * that requests more than the new number fails as a newcomer would, with [IllegalArgumentException]. With 0, all
     * waiters stay, and newcomers wait, until a resize to more. Shrinking, and growing from 0, costs O(waiters),
     * growing otherwise O(admitted waiters).
     *
     * @throws IllegalArgumentException if [permits] is negative.
     * @throws SemaphoreClosedException if the semaphore is closed.
     */
    public fun resize(permits: Int) {
        requireNoneOrMore(permits)
        if (!core.resize(permits)) throw core.closedException()
    }

    /**
     * Closes the semaphore: all waiters, and all later requests, get a [SemaphoreClosedException] with this [cause].
     * Holders may still release, and [awaitIdle] still works. A second close changes nothing.
     */
    public fun close(cause: Throwable? = null) {
        core.close(cause)
    }

    /**
     * Waits for a moment at which no permit is held. It takes no permit and blocks no other caller, so permits may be
     * held again when it returns. Returns at once if no permit is held. A permit that was granted to a waiter counts as
     * held, also before the waiter runs. Under [WaitOrder.UNFAIR] so does a released permit that the first waiter has
     * not taken yet.
     *
     * While a caller waits here, no operation takes the fast path.
     *
     * *Cancellation.* Throws; there is nothing to return.
     */
    public suspend fun awaitIdle() {
        if (!isExplored() && core.isIdle) return
        awaitGrant(core, IDLE_WEIGHT, request = null)
    }

    /**
     * Acquires within kotlinx.coroutines' `select`; the parameter is the number of permits, null for 1. The block gets
     * this semaphore and holds the permits. A clause that loses, or whose select is cancelled, holds nothing. The
     * select throws the exceptions of [acquire].
     */
    public val onAcquire: SelectClause2<Int?, Semaphore>
        get() = SelectClauses.clause2(Clause())

    @OptIn(InternalCoroutinesApi::class)
    private inner class Clause : SelectableCore() {
        override fun valueOf(winner: SelectWaiter): Semaphore = this@Semaphore

        override fun waiter(clause: Any, select: SelectInstance<*>, param: Any?): SelectWaiter {
            val permits = param as Int? ?: 1
            checkWeight(permits)
            return SelectWaiter(core, permits, level(select.context), clause, select)
        }
    }

    /** The calling coroutine, if it is to be known as the holder of the only permit. */
    private suspend inline fun caller(): Holder? =
        if (KnownCallers.areWanted && core.permits == 1) core.callerOf(coroutineContext, owner = null) else null

    private fun level(context: CoroutineContext) = if (order == WaitOrder.PRIORITY) context.priority else null

    @JvmSynthetic
    internal fun checkWeight(permits: Int) {
        if (permits == 1) return // Never too many: of 0 permits, each number is waited for.
        requireAtLeastOne(permits)
        if (core.exceedsPermits(permits)) throw core.refusal(permits)
    }

    /** As [acquire], or throws [PermitTimeoutException]. Inlined bodies call it: it stays in their bytecode. */
    @PublishedApi
    @JvmSynthetic
    internal suspend fun acquireWithin(permits: Int, timeout: Duration) {
        if (tryAcquire(permits, timeout)) return
        val what = if (permits == 1) "permit" else "$permits permits"
        throw FlightEvents.late("no $what within $timeout from ", this)
    }

    private fun requireNoneOrMore(permits: Int) {
        require(permits >= 0) { "permits = $permits, must be at least 0" }
    }

    private fun requireAtLeastOne(permits: Int) {
        require(permits >= 1) { "permits = $permits, must be at least 1" }
    }

    override fun toString(): String {
        val closed = if (core.isClosed) ", closed" else ""
        return "${core.label()} (permits = $permits, available = $availablePermits, waiting = $waiting$closed)"
    }
}

/** Runs [action] while holding one permit, and releases it however [action] ends. Throws as [Semaphore.acquire]. */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Semaphore.withPermit(action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    return withPermits(1, action)
}

/** Runs [action] while holding [permits], and releases them however [action] ends. Throws as [Semaphore.acquire]. */
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

/**
 * As [withPermit] without a timeout, but waits [timeout] at most for the permit, as [Semaphore.tryAcquire] does. The
 * [action] may take as long as it takes.
 *
 * @throws PermitTimeoutException if the permit was not granted in time; [action] has not run.
 */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Semaphore.withPermit(timeout: Duration, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    return withPermits(1, timeout, action)
}

/** As [withPermits] without a timeout, but waits [timeout] at most for the permits; see [withPermit]. */
@OptIn(ExperimentalContracts::class)
public suspend inline fun <T> Semaphore.withPermits(permits: Int, timeout: Duration, action: () -> T): T {
    contract { callsInPlace(action, InvocationKind.EXACTLY_ONCE) }
    acquireWithin(permits, timeout)
    try {
        return action()
    } finally {
        release(permits)
    }
}
