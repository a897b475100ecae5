package baton.sync.core

import baton.sync.WaitOrder
import baton.waiting.FifoWaitQueue
import baton.waiting.PriorityWaitQueue
import baton.waiting.WaitQueue
import baton.waiting.Waiter
import baton.waiting.holders.Holder
import baton.waiting.holders.by
import baton.waiting.holders.countWaiter
import baton.waiting.holders.hasKnownHolder
import baton.waiting.holders.recordSole
import baton.waiting.holders.uncountWaiter

/*
 * The state of a semaphore (see SemaphoreCore.kt), in the fields while its word is guarded:
 *
 *   permits    how many there are; also read without the lock
 *   free       permits that are not held. Negative after a resize below what is held: a debt, which releases pay off
 *   queue      the requests that wait for permits
 *   idle       the callers of awaitIdle, which ask for no permits
 *   closed     why it was closed, or null
 *
 * With the lock free:
 *
 * (1) The head of the queue asks for more than is free, or was invited (UNFAIR). So no newcomer overtakes, and a release
 *     hands its permits to the head.
 * (2) While a caller waits in idle, a permit is held. Idle means that free = permits and no request is about to take some:
 *     under UNFAIR, a released permit for which the head was invited counts as held. With 0 permits requests stay queued
 *     although none is held.
 * (3) The word is guarded while the semaphore is closed, has waiters, a debt, or a recorded holder; otherwise it is plain,
 *     unless the last decision has thrown.
 * (4) The holder of the only permit is recorded, if it is to be known (see Holders), in the step that grants the permit,
 *     and removed in the step that returns it. With more than one permit no holder is recorded, because a released permit
 *     could be any holder's.
 *
 * UNFAIR: a release does not grant the head but *invites* it: the head calls claim() when its dispatcher runs it, and
 * takes the permits that are free then. Meanwhile newcomers may take free permits, at most MAX_OVERTAKES of them for one
 * head; after that the head is granted as under the other orders. At most one invitation is out. An invited waiter that
 * withdraws, or that does not find enough permits, keeps none, and the next decision looks at the head again.
 */
internal abstract class SemaphoreState(permits: Int, acquired: Int, protected val order: WaitOrder) :
    InflatingCore(wordOf(permits, permits - acquired)) {
    /** Written under the lock. */
    @Volatile
    var permits: Int = permits
        private set

    private var free = 0
    protected val queue: WaitQueue =
        if (order == WaitOrder.PRIORITY) PriorityWaitQueue { it.level.ordinal } else FifoWaitQueue()
    private val fifo = if (order == WaitOrder.FIFO) queue as FifoWaitQueue else null
    private val idle = FifoWaitQueue()
    private var invited: Waiter? = null
    private var overtakes = 0

    /** Written under the lock, while the word is guarded. */
    @Volatile
    var closed: Closure? = null
        private set

    class Closure(val cause: Throwable?)

    final override fun readWord(word: Long) {
        free = freeIn(word)
    }

    final override fun demandedWord(): Long =
        when {
            closed != null || idle.size > 0 -> INFLATED
            queue.size > 0 -> if (order == WaitOrder.UNFAIR) INFLATED else BLOCKED
            free < 0 || hasKnownHolder() -> BLOCKED
            else -> wordOf(permits, free)
        }

    /** Whether no release can grant [n] permits. Of 0 permits, only a resize grants any number: it is waited for. */
    fun exceedsPermits(n: Int): Boolean = permits in 1 until n

    // All that follows is called under the lock, between inflate() and updateWord().

    protected val freeUnderLock: Int
        get() = maxOf(free, 0)

    protected val isIdleUnderLock: Boolean
        get() = free == permits && (queue.size == 0 || permits == 0)

    // ---- acquire

    /** Takes [n] permits for a newcomer. */
    protected fun take(n: Int, by: Holder?): Boolean {
        if (closed != null || !mayTake(n)) return false
        free -= n
        recordHolder(by)
        return true
    }

    /** Whether a newcomer may take [n] permits. If it overtakes by that, counts it. */
    private fun mayTake(n: Int): Boolean {
        if (free < n) return false
        if (queue.size == 0) return true
        if (!mayBeOvertaken()) return false
        overtakes++
        return true
    }

    private fun mayBeOvertaken() = order == WaitOrder.UNFAIR && overtakes < WaitOrder.MAX_OVERTAKES

    /** Records [by] as the holder of the only permit, see (4). */
    private fun recordHolder(by: Holder?) {
        if (permits == 1) recordSole(by)
    }

    protected fun enqueueUnderLock(waiter: Waiter): Int {
        val weight = waiter.weight
        when {
            waiter.awaitsIdle -> return enqueueIdle(waiter)
            closed != null || exceedsPermits(weight) -> waiter.tryFail(closed ?: permits)
            mayTake(weight) ->
                if (waiter.tryGrant()) {
                    free -= weight
                    recordHolder(waiter.by)
                }
            waiter.startWaiting() -> {
                queue.add(waiter)
                countPeak(queue.size)
                countWaiter(waiter)
                // It may come before the head, and ask for less.
                if (order != WaitOrder.PRIORITY) return Waiter.WAITING
                admit(entering = waiter)
            }
        }
        return waiter.currentState
    }

    private fun enqueueIdle(waiter: Waiter): Int {
        if (isIdleUnderLock) {
            waiter.tryGrant()
        } else if (waiter.startWaiting()) {
            idle.add(waiter)
        }
        return waiter.currentState
    }

    // ---- release

    /** False when fewer than [n] are held. */
    protected fun putBack(n: Int): Boolean {
        if (n > held) return false
        recordSole(null)
        free += n
        admit()
        return true
    }

    private val held: Long
        get() = permits.toLong() - free

    final override fun takeBackInflated(waiter: Waiter) {
        // Fewer if another caller has released, by mistake, what this waiter was granted.
        if (!waiter.awaitsIdle) putBackHeld(waiter.weight)
    }

    protected fun putBackHeld(most: Int): Boolean = putBack(minOf(most.toLong(), held).toInt())

    // ---- the plain case, of the order FIFO

    protected val isFifo: Boolean
        get() = fifo != null

    /**
     * Enqueues [waiter] if that is all there is to do: no permit is free, and its caller is not known. Else false, and
     * nothing has changed. The word may be plain.
     */
    protected fun enqueuePlainly(waiter: Waiter): Boolean =
        fifo != null &&
            !waiter.awaitsIdle &&
            !exceedsPermits(waiter.weight) &&
            enqueuePlainly(waiter, fifo) { freeIn(it) == 0 }

    /**
     * Grants the permit that a holder returns to the head, if that is all there is to do: the head asks for one, no
     * other is free, and no holder or waiter is known. Else null, and nothing has changed. The word may be plain.
     */
    protected fun handOverPlainly(): Waiter? {
        if (fifo == null || fifo.head()?.weight != 1 || free != 0 || permits == 0) return null
        return handOverPlainly(fifo, wordOf(permits, free = 0))
    }

    // ---- admission

    /** Restores (1) and (2). The [entering] waiter is inside its own enqueue call and needs no waking. */
    private fun admit(entering: Waiter? = null) {
        while (true) {
            val head = queue.head() ?: break
            if (head.weight > free) break
            if (head.invitable && mayBeOvertaken()) {
                if (invited == null) {
                    invited = head
                    invite(head)
                }
                break
            }
            grant(head)
            if (head !== entering) wake(head)
        }
        if (idle.size > 0 && isIdleUnderLock) {
            idle.forEach {
                idle.remove(it)
                it.grantQueued()
                wake(it)
            }
        }
    }

    /** Grants a queued [waiter], for which enough is free. */
    private fun grant(waiter: Waiter) {
        unlink(waiter)
        free -= waiter.weight
        recordHolder(waiter.by)
        overtakes = 0
        queue.served(waiter)
        waiter.grantQueued()
    }

    /** The invited [waiter] runs. Whether it took what it asks for. */
    protected fun claimUnderLock(waiter: Waiter): Boolean {
        if (invited === waiter) invited = null
        val granted = queue.head() === waiter && waiter.weight <= free
        if (granted) grant(waiter)
        admit()
        return granted
    }

    final override val queuedOthers: Int
        get() = idle.size

    final override fun visitOthers(limit: Int, visit: (Waiter) -> Unit) {
        idle.forFirst(limit, visit)
    }

    final override fun isQueued(waiter: Waiter): Boolean = queue.contains(waiter) || idle.contains(waiter)

    final override fun removeInflated(waiter: Waiter) {
        if (waiter.awaitsIdle) return idle.remove(waiter)
        if (order == WaitOrder.UNFAIR && queue.head() === waiter) overtakes = 0
        unlink(waiter)
        admit()
    }

    private fun unlink(waiter: Waiter) {
        if (invited === waiter) invited = null
        queue.remove(waiter)
        uncountWaiter(waiter)
    }

    // ---- resize, close

    protected fun changePermits(newPermits: Int) {
        // Before the change is seen: a request that comes after it must not be refused by an older BLOCKED.
        word = INFLATED
        val hadNone = permits == 0
        val shrinks = newPermits < permits
        recordSole(null)
        free += newPermits - permits
        permits = newPermits
        if (newPermits > 0 && (shrinks || hadNone)) failHeavierThan(newPermits, reason = newPermits)
        admit()
    }

    /**
     * The free permits stay as many, but for those above [newPermits], whose number is returned. Requests for more than
     * that fail.
     */
    protected fun changeHeldPermits(newPermits: Int): Int {
        word = INFLATED
        val shrinks = newPermits < permits
        val taken = maxOf(free - newPermits, 0)
        free -= taken
        permits = newPermits
        if (shrinks) failHeavierThan(newPermits, reason = newPermits)
        admit()
        return taken
    }

    protected fun withdrawUnderLock(): Int {
        val taken = freeUnderLock
        free -= taken
        return taken
    }

    /** The word is guarded and stays so: a thread that sees [closure] finds no fast path open. */
    protected fun closeUnderLock(closure: Closure) {
        word = INFLATED
        closed = closure
        failHeavierThan(0, reason = closure)
        admit()
    }

    private fun failHeavierThan(weight: Int, reason: Any) {
        queue.forEach {
            if (it.weight > weight) {
                unlink(it)
                it.failQueued(reason)
                wake(it)
            }
        }
    }

    internal companion object {
        /** A plain word: bits 0 to 31 the free permits, not negative, and bits 32 to 62 the permits. */
        fun wordOf(permits: Int, free: Int): Long = (permits.toLong() shl Int.SIZE_BITS) or free.toLong()

        fun freeIn(word: Long): Int = word.toInt()

        fun permitsIn(word: Long): Int = (word shr Int.SIZE_BITS).toInt()
    }
}
