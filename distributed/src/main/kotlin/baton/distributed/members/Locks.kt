package baton.distributed.members

import java.lang.ref.ReferenceQueue
import java.lang.ref.WeakReference
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.ConcurrentSkipListMap

/**
 * The locks of a cluster by their keys. One that rests is kept by its users alone: a program that has a lock for each
 * of its orders would fill its memory. All members may be called from any thread.
 */
internal class Locks {
    private val references = ConcurrentHashMap<String, Reference>()

    /** In the order of their keys: a simulation repeats it. */
    private val working = ConcurrentSkipListMap<String, ClusterLock>()
    private val collected = ReferenceQueue<ClusterLock>()

    private class Reference(val key: String, lock: ClusterLock, queue: ReferenceQueue<ClusterLock>) :
        WeakReference<ClusterLock>(lock, queue)

    val size: Int
        get() {
            removeCollected()
            return references.size
        }

    /** The lock [key], if there is one. */
    operator fun get(key: String): ClusterLock? = references[key]?.get()

    /** The lock [key], made if there is none. */
    fun get(key: String, create: () -> ClusterLock): ClusterLock {
        removeCollected()
        while (true) {
            this[key]?.let {
                return it
            }
            val made = create()
            val reference = Reference(key, made, collected)
            val kept = references.compute(key) { _, before -> if (before?.get() == null) reference else before }
            if (kept === reference) return made
        }
    }

    private fun removeCollected() {
        while (true) {
            val reference = collected.poll() as Reference? ?: return
            references.remove(reference.key, reference)
        }
    }

    fun works(lock: ClusterLock) {
        working[lock.key] = lock
    }

    fun rests(lock: ClusterLock) {
        working.remove(lock.key, lock)
    }

    fun working(): Collection<ClusterLock> = working.values

    fun all(): List<ClusterLock> = references.values.mapNotNull { it.get() }
}
