package baton.waiting

/**
 * Somebody who waits in the line of a condition for a signal, and then in that of its mutex.
 *
 * A future is one waiter for both: it is WAITING until the mutex is its own, and withdrawing it takes it out of either
 * line. A coroutine, which must come back with the mutex in any case, is two: this one, which ends with the signal or
 * is withdrawn, and its [entrant], which nobody withdraws and which gets the mutex.
 *
 * [ticket] and [reach] are guarded by the lock of the mutex's core.
 *
 * @param owner who holds the mutex when this one begins to wait.
 */
@InternalBatonApi
public abstract class SignalWaiter(core: WaitCore, owner: Any?) : Waiter(core, weight = 1, tag = owner) {
    /** How many have come before it. */
    @JvmField internal var ticket: Long = 0

    /** How many had come when it was signalled; 0 until then. */
    @JvmField internal var reach: Long = 0

    /** It gives up the mutex, which [owner] holds; false when that is not its to give up. Under the lock. */
    internal open fun leaveMutex(owner: Any?): Boolean = tag === owner

    /** Under the lock; false when it was withdrawn. */
    internal open fun trySignal(): Boolean = currentState == WAITING

    /** Who goes into the mutex's line, WAITING, when this one is out of the condition's; null if nobody does. */
    internal open fun entrant(signalled: Boolean): Waiter? = if (signalled) this else null
}
