package baton.waiting

/**
 * A core whose waiters all go on together: when a count is zero, when a breaker is closed.
 *
 * ```
 *             the subclass, by any thread
 *   passing ◀─────────────────────────────▶ shut     caller → join: granted, or a member of the gathering batch
 *             to passing: under the lock, and releaseAll() ends the gathering batch in the same decision
 * ```
 * 1. [isPassing] is the subclass's. It becomes true only under the lock, in a decision that calls [releaseAll]. The
 *    decision makes sure of its stack before that change; or if it throws, the next one begins with [releaseAll]. So a
 *    gate that is found shut under the lock stays shut until the lock is free, and one that passes has no waiters.
 * 2. A caller that finds the gate shut under the lock joins the gathering batch; one that finds it passing is granted.
 *    With (1), a batch has members only while the gate is shut, and no waiter is granted by an opening from before it
 *    came.
 * 3. [releaseAll] ends the batch; the next waiter starts a new one. The same opening grants all members of a batch and
 *    no other waiter, although the gate may be shut again before they run.
 * 4. A waiter's place is its batch, by which a canceller finds whether the batch still gathers: if not, there is
 *    nothing to remove.
 * 5. A grant carries nothing that could be taken back. No wait fails, but in a subclass that says why.
 */
internal abstract class Gate : WaitCore() {
    // Guarded by the lock. Null, or without members, when no caller waits.
    private var gathering: WaiterBatch? = null

    /** Whether a caller need not wait. Read with and without the lock. */
    abstract val isPassing: Boolean

    val waiting: Int
        get() = decide { queuedWaiters }

    /** Grants [waiter], or puts it into the gathering batch; returns its state as `enqueue` does. Under the lock. */
    protected fun join(waiter: Waiter, passes: Boolean = isPassing): Int {
        if (passes) {
            waiter.tryGrant()
        } else {
            val batch = gathering ?: WaiterBatch().also { gathering = it }
            if (waiter.startGathering()) {
                // From here on a canceller may resume it: its state must not be read again, or both threads would
                // resume it.
                waiter.place = batch
                batch.add(waiter)
                countPeak(batch.size)
                return Waiter.WAITING
            }
        }
        return waiter.currentState
    }

    /** Grants all that wait or, with a [reason], fails them. Under the lock. */
    protected fun releaseAll(reason: Any? = null) {
        val batch = gathering ?: return
        batch.end(reason)
        wake(batch)
        gathering = null
    }

    override fun withdrawMember(waiter: Waiter) {
        decide {
            val batch = waiter.place as WaiterBatch?
            if (batch != null && !batch.hasEnded) batch.remove(waiter)
        }
    }

    override val queuedWaiters: Int
        get() = gathering?.size ?: 0

    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        gathering?.forFirst(limit, visit)
    }

    override fun takeBack(waiter: Waiter) {}

    override fun failure(waiter: Waiter): Throwable = IllegalStateException("${callOf(waiter)} does not fail")
}
