package baton.waiting.coroutine

import baton.waiting.threads.Trampoline
import java.lang.ref.WeakReference
import java.util.concurrent.atomic.AtomicReference

/**
 * A slot of each thread for one object, which its thread puts there and takes out without an atomic operation. Other
 * threads only clear it, by compare-and-set.
 *
 * The next thread that gets a slot passes to [onOrphan] each object that an ended thread left in its slot. So there are
 * never more such objects than there were threads at a time.
 *
 * A virtual thread has no slot: it runs one block of a coroutine, and the slot would cost more than it saves. Slots are
 * of the JDK's classes, so a thread that outlives an application does not keep the application's class loader.
 */
internal class ThreadSlots<T : Any>(private val onOrphan: (T) -> Unit) {
    private val own = ThreadLocal<AtomicReference<T?>>()

    /** The slots that were given out. Guarded by its monitor. */
    private val all = ArrayList<Owned<T>>()

    private class Owned<T>(val thread: WeakReference<Thread>, val slot: AtomicReference<T?>)

    /** The slot of this thread, if it has one already. */
    fun find(): AtomicReference<T?>? = if (isVirtual()) null else own.get()

    /** The slot of this thread; null if that is a virtual one. */
    fun get(): AtomicReference<T?>? = if (isVirtual()) null else own.get() ?: create(Thread.currentThread())

    private fun isVirtual() = Thread.currentThread().javaClass === VIRTUAL_THREAD

    private fun create(thread: Thread): AtomicReference<T?> {
        val slot = AtomicReference<T?>()
        val orphans = synchronized(all) { takeOrphans(thread).also { all += Owned(WeakReference(thread), slot) } }
        own.set(slot)
        for (orphan in orphans) Trampoline.guarded { orphan.getAndSet(null)?.let(onOrphan) }
        return slot
    }

    /** The slots of threads that have ended, and of [creator] itself: some pools erase the thread locals of theirs. */
    private fun takeOrphans(creator: Thread): List<AtomicReference<T?>> {
        val orphans = ArrayList<AtomicReference<T?>>(0)
        all.removeIf { owned ->
            val thread = owned.thread.get()
            (thread === creator || thread?.isAlive != true).also { if (it) orphans += owned.slot }
        }
        return orphans
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
