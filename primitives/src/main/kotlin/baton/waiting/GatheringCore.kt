package baton.waiting

/** A core whose waiters gather in one [WaiterBatch], until an event releases all of them. */
internal abstract class GatheringCore : WaitCore() {
    // Guarded by the lock. Null, or without members, when no caller waits.
    private var gathering: WaiterBatch? = null

    val waiting: Int
        get() = decide { gathering?.size ?: 0 }

    /** Adds [waiter] to the batch, unless it was withdrawn. Returns what [enqueue] has to return. Under the lock. */
    protected fun gather(waiter: Waiter): Int {
        val batch = gathering ?: WaiterBatch().also { gathering = it }
        if (!waiter.startWaiting()) return waiter.currentState
        // From WAITING on a canceller may resume the waiter: its state must not be read again here.
        waiter.place = batch
        batch.add(waiter)
        return Waiter.WAITING
    }

    /** Grants [waiter], which need not gather, unless it was withdrawn. As [gather] otherwise. */
    protected fun grantNow(waiter: Waiter): Int {
        waiter.tryGrant()
        return waiter.currentState
    }

    /** Releases the waiters that have gathered; the next one starts a new batch. Under the lock. */
    protected fun releaseAll() {
        val batch = gathering ?: return
        batch.end()
        wake(batch)
        gathering = null
    }

    /** A waiter's place is its batch: if that does not gather any more, there is nothing to remove. */
    override fun withdraw(waiter: Waiter) {
        decide {
            val batch = waiter.place as WaiterBatch?
            if (batch != null && !batch.hasEnded) batch.remove(waiter)
        }
    }

    /** A grant carries nothing that could be taken back. */
    override fun takeBack(waiter: Waiter) {}
}
