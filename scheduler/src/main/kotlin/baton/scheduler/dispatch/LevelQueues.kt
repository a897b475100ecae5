package baton.scheduler.dispatch

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicReferenceArray

/**
 * A concurrent queue for each level, created for its first block: most dispatchers use one or two levels. A queue that
 * was created stays, so a thread that finds none has found the level empty at that moment, as [isEmpty] would. It is
 * the array itself, which saves an object for each dispatcher.
 */
internal class LevelQueues : AtomicReferenceArray<ConcurrentLinkedQueue<Runnable>?>(RunQueue.LEVELS.size) {
    fun add(level: Int, block: Runnable) {
        (get(level) ?: newQueue(level)).add(block)
    }

    private fun newQueue(level: Int): ConcurrentLinkedQueue<Runnable> {
        val new = ConcurrentLinkedQueue<Runnable>()
        return if (compareAndSet(level, null, new)) new else checkNotNull(get(level))
    }

    fun poll(level: Int): Runnable? = get(level)?.poll()

    fun isEmpty(level: Int): Boolean = get(level)?.isEmpty() ?: true

    /** The blocks of [level], in order, as its queue's iterator finds them. */
    fun blocks(level: Int): Collection<Runnable> = get(level) ?: emptyList()

    fun remove(level: Int, entry: Runnable): Boolean = get(level)?.remove(entry) ?: false
}
