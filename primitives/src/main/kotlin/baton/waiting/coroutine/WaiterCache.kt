package baton.waiting.coroutine

import baton.waiting.Waiter
import java.lang.ref.WeakReference
import kotlin.coroutines.CoroutineContext

/**
 * A thread's place for the waiter of the coroutine that it resumed last. A coroutine that is resumed with a grant
 * mostly runs on, on the same thread, until it waits again; that wait then allocates neither a waiter nor its wrapper.
 * 1. From its arrival to its coroutine's next wait a cached waiter is [Waiter.ARRIVED], has no handler on its job, and
 *    belongs to the thread in whose place it is. The place refers to it weakly: it keeps no coroutine in memory.
 * 2. A waiter serves one coroutine context, and so one job and one dispatcher. A canceller that still refers to it from
 *    an earlier wait cancels that job: it is right to withdraw the wait that is going on.
 * 3. A dispatcher that has thrown, and an invitation, may resume a waiter later than the wait to which they belong. So
 *    such a waiter [Waiter.servesOnce].
 * 4. Virtual threads end often. They have no place.
 */
internal class WaiterCache private constructor(private val isOpen: Boolean) {
    private var waiter: WeakReference<CoroutineWaiter>? = null

    companion object {
        private val isVirtual = runCatching { Thread::class.java.getMethod("isVirtual") }.getOrNull() // since Java 21

        private val places =
            ThreadLocal.withInitial { WaiterCache(isOpen = isVirtual?.invoke(Thread.currentThread()) != true) }

        /** The cached waiter of the coroutine with this [context], which is then the caller's. */
        fun take(context: CoroutineContext): CoroutineWaiter? {
            val place = places.get()
            val found = place.waiter?.get()
            if (found == null || found.context !== context) return null
            place.waiter = null
            return found
        }

        /**
         * Leaves a waiter that has arrived on this thread to the next wait of its coroutine; false if that cannot be.
         */
        fun put(waiter: WeakReference<CoroutineWaiter>): Boolean {
            val place = places.get()
            if (place.isOpen) place.waiter = waiter
            return place.isOpen
        }
    }
}
