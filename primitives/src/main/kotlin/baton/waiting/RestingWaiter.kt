package baton.waiting

import java.util.concurrent.atomic.AtomicReference
import kotlin.coroutines.Continuation

/**
 * A thread's place for the waiter of the coroutine that ran here last, so that the coroutine's next wait need not make
 * one: a coroutine that is resumed with a permit mostly runs on, on the same thread, until it waits again.
 *
 * 1. A waiter serves one coroutine context only, and with it one job and one dispatcher. So whoever still holds it from
 *    an earlier wait (the job's handler, an invitation) means the same coroutine, and its compare-and-sets find the
 *    state of the wait that is going on.
 * 2. Whoever moves it from RESTING to PREPARING owns it; a place is only a hint where one may be found.
 * 3. Only its own thread puts a waiter in; any thread may take one out that has retired or come to rest elsewhere. A
 *    waiter that is put out of its place while it rests is retired, and its job's watch ends: a job collects no
 *    watches, but for one of a thread that ended with its waiter resting there. On virtual threads nothing rests: they
 *    end often.
 * 4. A waiter that rests keeps nothing alive but its context. When its job completes, it retires and leaves its place.
 */
internal class RestingWaiter private constructor(private val open: Boolean) {
    private val waiter = AtomicReference<CoroutineWaiter?>()

    fun forget(leaving: CoroutineWaiter) {
        if (waiter.get() === leaving) waiter.compareAndSet(leaving, null)
    }

    companion object {
        private val isVirtual =
            runCatching { Thread::class.java.getMethod("isVirtual") }.getOrNull() // since Java 21

        private val places =
            ThreadLocal.withInitial { RestingWaiter(open = isVirtual?.invoke(Thread.currentThread()) != true) }

        /** The waiter that rests here, if it is that of [caller]'s coroutine. */
        fun renew(core: WaitCore, weight: Int, tag: Any?, caller: Continuation<*>): CoroutineWaiter? {
            val found = places.get().waiter.get() ?: return null
            if (found.context !== caller.context || !found.tryRenew()) return null
            found.renew(core, weight, tag, caller)
            return found
        }

        /**
         * [waiter] has arrived on this thread, and nobody has a use for it until its coroutine waits again. False where
         * nothing can rest.
         */
        fun rest(waiter: CoroutineWaiter): Boolean {
            val here = places.get()
            if (!here.open) return false
            val before = here.waiter.get()
            if (before !== waiter) {
                waiter.restingPlace?.forget(waiter)
                waiter.restingPlace = here
                here.waiter.set(waiter)
                before?.retire()
            }
            waiter.rest()
            return true
        }
    }
}

/** Stands in for the core of a waiter that waits nowhere. */
internal object NoCore : WaitCore() {
    override fun enqueue(waiter: Waiter, announced: Boolean): Int = error("nothing to wait for")

    override fun unannounce(weight: Int) {}

    override fun withdraw(waiter: Waiter) {}

    override fun takeBack(waiter: Waiter) {}

    override fun failure(waiter: Waiter): Throwable = IllegalStateException("nothing to wait for")
}
