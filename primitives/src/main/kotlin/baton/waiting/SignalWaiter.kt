package baton.waiting

import baton.InternalBatonApi

/**
 * A waiter in the queue of a condition, which a signal moves to the queue of the condition's mutex.
 *
 * A future is one waiter for both queues: it is WAITING until it holds the mutex, and withdrawing it takes it out of
 * either queue. A coroutine must hold the mutex again in any case, so it is two waiters: this one, which ends with the
 * signal or is withdrawn, and its [entrant], which is never withdrawn and gets the mutex.
 *
 * [ticket] and [reach] are guarded by the lock of the mutex's core.
 *
 * @param owner the owner of the mutex when this waiter begins to wait.
 */
@InternalBatonApi
public abstract class SignalWaiter(core: WaitCore, owner: Any?) : Waiter(core, number = 1, request = owner) {
    /** How many waiters of the condition came before it. */
    @JvmField internal var ticket: Long = 0

    /** How many waiters had come when it was signalled; 0 until then. */
    @JvmField internal var reach: Long = 0

    /** Whether it may give up the mutex, which [owner] holds. Under the lock. */
    internal open fun leaveMutex(owner: Any?): Boolean = request === owner

    /** It gets the signal. Under the lock. */
    internal open fun signal() {}

    /** The waiter, WAITING, that enters the mutex's queue when this one has left the condition's; or null. */
    internal open fun entrant(signalled: Boolean): Waiter? = if (signalled) this else null
}
