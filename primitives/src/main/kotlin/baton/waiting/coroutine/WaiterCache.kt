package baton.waiting.coroutine

import baton.waiting.WaitCore
import baton.waiting.Waiter
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.lang.ref.WeakReference
import java.util.concurrent.ThreadLocalRandom
import kotlin.coroutines.CoroutineContext

/**
 * Keeps the waiters of coroutines that run, for the next wait of each: that wait allocates neither a waiter nor its
 * wrapper, and finds its handler on the job in place. The context of a coroutine chooses one of [PLACES] places, so the
 * coroutine may change its thread between two waits.
 * 1. A waiter that is [Waiter.CACHED] belongs to the caller that moves it out of that state: the next wait in its
 *    context, or the waiter that takes its place.
 * 2. A waiter serves one coroutine context, and so one job and one dispatcher. A canceller that still refers to it from
 *    an earlier wait cancels that job: it is right to withdraw the wait that is going on.
 * 3. A dispatcher that has thrown, and an invitation, may resume a waiter later than the wait to which they belong. So
 *    such a waiter [Waiter.servesOnce].
 * 4. A place is written when another waiter takes it, not at each wait. Waiters that share a place take it from each
 *    other, and one that is CACHED then takes its handler off the job. So a waiter with a handler is in use or in its
 *    place: [put] moves the waiter to CACHED before it looks at the place, as it writes the place before it looks at
 *    the former one's state.
 * 5. The places refer to waiters weakly: they keep no coroutine in memory. The job refers to its handler, but a waiter
 *    that is CACHED refers to neither core nor request nor caller.
 */
internal object WaiterCache {
    private const val PLACES = 1024

    // Not an AtomicReferenceArray: Lincheck, which restores static state after each execution, notes all of its places,
    // and of an array only those that were used.
    private val places = arrayOfNulls<WeakReference<*>>(PLACES)
    private val PLACE: VarHandle = MethodHandles.arrayElementVarHandle(places.javaClass)

    /** In the place of the core of a cached waiter. */
    val noCore: WaitCore = NoCore()

    init {
        // The first wait loads this class before it holds anything, and with it the others that the end of a wait uses,
        // those behind the accesses to a place included: a class whose loading fails there, because the stack has no
        // room left, would stay broken.
        ThreadLocalRandom.current()
        replaceAt(place = 0, referenceAt(0))
    }

    internal fun placeOf(context: CoroutineContext) = System.identityHashCode(context) and (PLACES - 1)

    /**
     * Whether a waiter is kept that has not been kept before: one of four, at random. A coroutine that waits once would
     * pay for its place and gain nothing, and one that waits often is soon among the four.
     */
    fun admits() = ThreadLocalRandom.current().nextInt() and 3 == 0

    /** The cached waiter of the coroutine with this [context], PREPARING, which is then the caller's. */
    fun take(context: CoroutineContext): CoroutineWaiter? {
        val waiter = referenceAt(placeOf(context))?.get() as CoroutineWaiter?
        return if (waiter != null && waiter.context === context && waiter.tryPrepareAgain()) waiter else null
    }

    /** Leaves [waiter], to which [reference] refers, to the next wait of its coroutine. */
    fun put(waiter: CoroutineWaiter, reference: WeakReference<CoroutineWaiter>) {
        val place = placeOf(waiter.context)
        waiter.enterCache()
        if (referenceAt(place) === reference) return
        val former = replaceAt(place, reference)?.get() as CoroutineWaiter?
        if (former != null && former !== waiter && former.tryLeaveCache()) former.leave()
    }

    private fun referenceAt(place: Int) = PLACE.getVolatile(places, place) as WeakReference<*>?

    /** Returns the former one. */
    private fun replaceAt(place: Int, reference: WeakReference<*>?) =
        PLACE.getAndSet(places, place, reference) as WeakReference<*>?

    private class NoCore : WaitCore() {
        override fun enqueue(waiter: Waiter) = refuse()

        override fun withdraw(waiter: Waiter) = refuse()

        override fun takeBack(waiter: Waiter) = refuse()

        override fun failure(waiter: Waiter) = refuse()

        override fun verbOf(waiter: Waiter) = "no wait"

        override fun label() = "no primitive"

        override fun toString() = label()

        private fun refuse(): Nothing = error("a cached waiter waits for nothing")
    }
}
