package baton.sync.core

import baton.monitoring.Monitored
import baton.sync.SemaphoreClosedException
import baton.sync.WaitOrder
import baton.waiting.Waiter
import baton.waiting.flight.FlightEvents
import baton.waiting.holders.Holder
import baton.waiting.holders.LockCore
import baton.waiting.holders.LockLook
import baton.waiting.holders.makeKnown
import baton.waiting.labelOf
import baton.waiting.wakeAll

/*
 * How it works
 *
 * One word holds the free permits and the number of permits. One compare-and-set acquires, one releases; while no request
 * has to wait, that is all. A request that has to wait inflates the word ([InflatingCore]): from then on the fields under
 * the lock are the state ([SemaphoreState], invariants 1 to 4), until no waiter is left. A release then hands its permits
 * to the head of the queue and changes neither the word nor the free permits, as seen from outside.
 *
 * The plain word names the number of permits too, so that a release finds in one step that it returns more than is held,
 * whatever a resize does meanwhile.
 *
 * Sources: head-of-line admission by weight is that of golang.org/x/sync/semaphore; deciding under a lock and waking after
 * it is that of tokio's batch_semaphore.
 */
internal open class SemaphoreCore(permits: Int, acquired: Int, order: WaitOrder, private val semaphore: Monitored) :
    SemaphoreState(permits, acquired, order), LockCore {
    val isClosed: Boolean
        get() = closed != null

    /** Whether no permit is held. */
    val isIdle: Boolean
        get() {
            val seen = word
            return if (isGuarded(seen)) decideInflated { isIdleUnderLock } else freeIn(seen) == permitsIn(seen)
        }

    val waiting: Int
        get() = if (isGuarded(word)) decide { queue.size } else 0

    /** The permits that are not held. */
    val availablePermits: Int
        get() {
            val seen = word
            return if (isGuarded(seen)) decideInflated { freeUnderLock } else freeIn(seen)
        }

    // ---- acquire

    /**
     * Takes [n] if that needs no waiting. [by] is the caller, if it is to be recorded as the holder of the only permit.
     */
    fun tryTakePermits(n: Int, by: Holder?): Boolean {
        while (true) {
            val seen = word
            when {
                seen == INFLATED || by != null && permitsIn(seen) == 1 -> return takeUnderLock(n, by)
                seen == BLOCKED || freeIn(seen) < n -> return if (exceedsPermits(n)) throw refusal(n) else false
                compareAndSet(seen, seen - n) -> return true
            }
        }
    }

    private fun takeUnderLock(n: Int, by: Holder?): Boolean {
        if (decideInflated { take(n, by) }) return true
        closed?.let { throw closed(it) }
        // The request may have passed checkWeight before a resize shrank the semaphore: then it throws here, and does
        // not return false as if other callers held the permits.
        if (exceedsPermits(n)) throw refusal(n)
        return false
    }

    /** Takes what is free, as [tryTakePermits] would take that number. */
    fun drain(by: Holder?): Int {
        while (true) {
            val seen = word
            if (isGuarded(seen) || by != null) return drainUnderLock(by)
            val free = freeIn(seen)
            if (free == 0 || compareAndSet(seen, seen - free)) return free
        }
    }

    private fun drainUnderLock(by: Holder?): Int {
        val taken = decideInflated { freeUnderLock.let { if (it > 0 && take(it, by)) it else 0 } }
        if (taken == 0) closed?.let { throw closed(it) }
        return taken
    }

    override fun enqueue(waiter: Waiter): Int {
        if (permits == 1) makeKnown(waiter) else noteWait(waiter)
        return if (isFifo && plainly { enqueuePlainly(waiter) }) Waiter.WAITING else enqueueSlowly(waiter)
    }

    private fun enqueueSlowly(waiter: Waiter): Int = decideInflated { enqueueUnderLock(waiter) }

    // ---- release

    /** False when fewer than [n] are held, in which case nothing has changed. */
    fun release(n: Int): Boolean {
        while (true) {
            val seen = word
            when {
                isGuarded(seen) -> return releaseGuarded(n)
                n > permitsIn(seen) - freeIn(seen) -> return false
                compareAndSet(seen, seen + n) -> return true
            }
        }
    }

    private fun releaseGuarded(n: Int): Boolean {
        val next = (if (n == 1 && isFifo) plainly { handOverPlainly() } else null) ?: return releaseSlowly(n)
        wakeAll(next)
        return true
    }

    private fun releaseSlowly(n: Int): Boolean = decideInflated { putBack(n) }

    // ---- called by waiters and by monitors

    override fun claim(waiter: Waiter): Boolean = decideInflated { claimUnderLock(waiter) }

    override val queuedWaiters: Int
        get() = queue.size

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        queue.forFirst(limit, visit)
    }

    override fun addWaits(look: LockLook) {
        if (permits == 1) visitWaiters(Int.MAX_VALUE) { look.addWait(it, LockLook.SOLE) }
    }

    // ---- resize, close

    /** False when closed. */
    fun resize(newPermits: Int): Boolean = decideInflated {
        if (closed == null && newPermits != permits) changePermits(newPermits)
        closed == null
    }

    /** Fails newcomers and all waiters; holders may still release. A second close changes nothing. */
    fun close(cause: Throwable?) {
        decideInflated { if (closed == null) closeUnderLock(Closure(cause)) }
    }

    // ---- messages

    override fun failure(waiter: Waiter): Throwable =
        when (val reason = waiter.outcome) {
            is Closure -> closed(reason)
            else -> tooHeavy(waiter.weight, reason as Int)
        }

    override fun label(): String = labelOf("Semaphore", semaphore.name)

    override fun toString(): String = semaphore.toString()

    override fun verbOf(waiter: Waiter): String = if (waiter.awaitsIdle) "awaitIdle" else "acquire"

    /**
     * The exception for a request of [n] permits, more than there are. If the semaphore is closed that is the reason
     * given, because it is final.
     */
    fun refusal(n: Int): RuntimeException = closed?.let(::closed) ?: tooHeavy(n, permits)

    private fun tooHeavy(n: Int, bound: Int): IllegalArgumentException =
        IllegalArgumentException("permits = $n, must be at most $bound, the permits of ${label()}")

    fun closedException(): SemaphoreClosedException = closed(checkNotNull(closed))

    private fun closed(closure: Closure): SemaphoreClosedException =
        FlightEvents.refused(label(), SemaphoreClosedException("${label()} is closed", closure.cause))
}
