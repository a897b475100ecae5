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
 * wrapper, and finds its handler on the job in place.
 *
 * ```
 *   a wait ends ──▶ the slot of its thread ──▶ one of [PLACES] places, chosen by the context
 *                     │  the next wait there      │  another waiter comes there
 *                     └──▶ in use                 └──▶ in use, or gone
 * ```
 * 1. A waiter at rest is [Waiter.CACHED], in one slot or one place. Only its thread takes from a slot and puts into it,
 *    without an atomic operation. A waiter is taken from a place by one compare-and-set of that place.
 * 2. A waiter serves one coroutine context, and so one job and one dispatcher. A canceller that still refers to it from
 *    an earlier wait cancels that job: it is right to withdraw the wait that is going on. One that saw the waiter at
 *    rest does nothing; so a wait looks at its job once more after it has been enqueued.
 * 3. A dispatcher that has thrown, and an invitation, may resume a waiter later than the wait to which they belong. So
 *    such a waiter [DispatchedWaiter.servesOnce].
 * 4. A coroutine that changes its thread finds its waiter in the places, once another waiter has moved it there. One of
 *    four moves, at random: a coroutine that waits once would pay for its place and gain nothing, and one that waits
 *    often is soon among the four. A waiter that has left both takes its handler off the job.
 * 5. When a job ends or is cancelled, its handler takes the waiter out of the slot ([forget]), and a waiter of such a
 *    job does not come to rest; places refer to waiters weakly. So the cache keeps no coroutine that has ended. Of
 *    those that were abandoned, or cancelled in the moment in which their waiter came to rest, it keeps one for each
 *    thread, until the thread's next arrival. A waiter at rest refers to neither core nor request nor caller.
 */
internal object WaiterCache {
    private const val PLACES = 1024

    // Not an AtomicReferenceArray: Lincheck, which restores static state after each execution, notes all of its places,
    // and of an array only those that were used.
    private val places = arrayOfNulls<WeakReference<*>>(PLACES)
    private val PLACE: VarHandle = MethodHandles.arrayElementVarHandle(places.javaClass)

    private val slots = ThreadSlots(Leave)

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

    /** The cached waiter of the coroutine with this [context], PREPARING, which is then the caller's. */
    fun take(context: CoroutineContext): CoroutineWaiter? {
        val slot = slots.find() ?: return takeFromPlace(context)
        val waiter = slot.plain
        if (waiter == null || waiter.context !== context) return takeFromPlace(context)
        slot.plain = null
        waiter.prepareAgain()
        return waiter
    }

    private fun takeFromPlace(context: CoroutineContext): CoroutineWaiter? {
        val place = placeOf(context)
        val reference = referenceAt(place) ?: return null
        val waiter = reference.get() as CoroutineWaiter?
        if (waiter == null || waiter.context !== context) return null
        if (!PLACE.compareAndSet(places, place, reference, null)) return null
        waiter.prepareAgain()
        return waiter
    }

    /** Leaves [waiter] to the next wait of its coroutine. */
    fun put(waiter: CoroutineWaiter) {
        waiter.enterCache()
        val slot = slots.get() ?: return moveToPlace(waiter)
        val displaced = slot.plain
        waiter.slot = slot
        slot.setRelease(waiter)
        if (displaced != null && displaced !== waiter) moveToPlace(displaced)
    }

    /** The job of [waiter] has ended or begins to be cancelled. */
    fun forget(waiter: CoroutineWaiter) {
        val slot = waiter.slot
        if (slot != null && slot.get() === waiter) slot.compareAndSet(waiter, null)
    }

    private fun moveToPlace(waiter: CoroutineWaiter) {
        val reference = waiter.reference ?: if (admits()) waiter.newReference() else return waiter.leave()
        val former = replaceAt(placeOf(waiter.context), reference)?.get() as CoroutineWaiter?
        if (former != null && former !== waiter) former.leave()
    }

    private fun admits() = ThreadLocalRandom.current().nextInt() and 3 == 0

    private fun referenceAt(place: Int) = PLACE.getVolatile(places, place) as WeakReference<*>?

    /** Returns the former one. */
    private fun replaceAt(place: Int, reference: WeakReference<*>?) =
        PLACE.getAndSet(places, place, reference) as WeakReference<*>?

    // No lambda: the first one of an application takes the JVM some milliseconds.
    private object Leave : (CoroutineWaiter) -> Unit {
        override fun invoke(orphan: CoroutineWaiter) = orphan.leave()
    }

    private class NoCore : WaitCore() {
        override fun enqueue(waiter: Waiter) = refuse()

        override fun takeBack(waiter: Waiter) = refuse()

        override fun failure(waiter: Waiter) = refuse()

        override fun verbOf(waiter: Waiter) = "no wait"

        override fun label() = "no primitive"

        override fun toString() = label()

        private fun refuse(): Nothing = error("a cached waiter waits for nothing")
    }
}
