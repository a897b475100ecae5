package baton.waiting.coroutine

import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicReference

/**
 * A slot of each thread for one object, which its thread puts there and takes out without an atomic operation. Other
 * threads only clear it, by compare-and-set.
 *
 * What a thread leaves in its slot when it ends is passed to [onOrphan], when the next thread gets a slot. So there are
 * never more such objects than there were threads at a time.
 *
 * A virtual thread has no slot: it runs one block of a coroutine, and the slot would cost more than it saves. Slots are
 * of the JDK's classes, so a thread that outlives an application does not keep the application's class loader.
 */
internal class ThreadSlots<T : Any>(private val onOrphan: (T) -> Unit) {
    private val own = ThreadLocal<AtomicReference<T?>>()

    /** The slots that were given out. Guarded by its monitor. */
    private val all = ArrayList<Owned<T>>()

    private class Owned<T>(val thread: WeakReference<Thread>, val slot: AtomicReference<T?>) {
        val isOrphaned: Boolean
            get() = thread.get()?.isAlive != true
    }

    /** The slot of this thread, if it has one already. */
    fun find(): AtomicReference<T?>? = own.get()

    /** The slot of this thread; null if that is a virtual one. */
    fun get(): AtomicReference<T?>? = own.get() ?: create(Thread.currentThread())

    private fun create(thread: Thread): AtomicReference<T?>? {
        if (thread.javaClass === VIRTUAL_THREAD) return null
        val slot = AtomicReference<T?>()
        val orphans = synchronized(all) { takeOrphans().also { all += Owned(WeakReference(thread), slot) } }
        own.set(slot)
        for (orphan in orphans) orphan.getAndSet(null)?.let(onOrphan)
        return slot
    }

    private fun takeOrphans(): List<AtomicReference<T?>> {
        val orphans = all.filter { it.isOrphaned }
        if (orphans.isNotEmpty()) all.removeAll(orphans)
        return orphans.map { it.slot }
    }

    private companion object {
        val VIRTUAL_THREAD: Class<*>? =
            try {
                Class.forName("java.lang.VirtualThread")
            } catch (_: ClassNotFoundException) {
                null
            }
    }
}
