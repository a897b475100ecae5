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

    /** The list of the slots that were given out. As the links, guarded by the monitor of [own]. */
    private var first: Owned<T>? = null

    // Not in a list of the JDK: from there Lincheck, which restores static state after each execution, would go on to
    // the thread, from it to the other threads of its group, and would restore the task that its own thread waits for.
    private class Owned<T>(val thread: WeakReference<Thread>, val slot: AtomicReference<T?>, var next: Owned<T>?)

    /** The slot of this thread, if it has one already. */
    fun find(): AtomicReference<T?>? = if (isVirtual()) null else own.get()

    /** The slot of this thread; null if that is a virtual one. */
    fun get(): AtomicReference<T?>? = if (isVirtual()) null else own.get() ?: create(Thread.currentThread())

    private fun isVirtual() = Thread.currentThread().javaClass === VIRTUAL_THREAD

    private fun create(thread: Thread): AtomicReference<T?> {
        val slot = AtomicReference<T?>()
        val added = Owned(WeakReference(thread), slot, next = null)
        var orphan =
            synchronized(own) {
                val orphans = takeOrphans(thread)
                added.next = first
                first = added
                orphans
            }
        own.set(slot)
        while (orphan != null) {
            val orphaned = orphan.slot
            Trampoline.guarded { orphaned.getAndSet(null)?.let(onOrphan) }
            orphan = orphan.next
        }
        return slot
    }

    /**
     * Takes out the slots of threads that have ended, and of [creator] itself: some pools erase the thread locals of
     * theirs. Returns them, linked.
     */
    private fun takeOrphans(creator: Thread): Owned<T>? {
        var orphans: Owned<T>? = null
        var kept: Owned<T>? = null
        var owned = first
        while (owned != null) {
            val following = owned.next
            val thread = owned.thread.get()
            if (thread === creator || thread?.isAlive != true) {
                owned.next = orphans
                orphans = owned
            } else {
                owned.next = kept
                kept = owned
            }
            owned = following
        }
        first = kept
        return orphans
    }

    private companion object {
        val VIRTUAL_THREAD: Class<*>? =
            try {
                // Without its static initializer, which makes the pools of all virtual threads.
                Class.forName("java.lang.VirtualThread", false, null)
            } catch (_: ClassNotFoundException) {
                null
            }
    }
}
