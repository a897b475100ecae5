package baton.waiting

import baton.InternalBatonApi
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReference

/**
 * The readers of a core's waits. While there is one, the waits are noted. It does not refer to the core, so that a
 * reader does not keep the core in memory.
 *
 * The core counts one peak of its waiters. A look of any reader adds that to the peak of each reader and begins a new
 * one: so a look takes nothing away from other readers.
 */
@InternalBatonApi
public class WaitWatch {
    private val readers = AtomicReference(emptyArray<PeakReader>())

    /** Guarded by the lock of the core. */
    private var highest = 0

    internal val isOn: Boolean
        get() = readers.get().isNotEmpty()

    internal fun add(reader: PeakReader) {
        while (true) {
            val now = readers.get()
            if (reader in now || readers.compareAndSet(now, now + reader)) return
        }
    }

    internal fun remove(reader: PeakReader) {
        while (true) {
            val now = readers.get()
            if (readers.compareAndSet(now, (now.toList() - reader).toTypedArray())) return
        }
    }

    /** There were [waiting] waiters at a time since the last look. Returns the most there ever were. Under the lock. */
    public fun looked(waiting: Int): Int {
        for (reader in readers.get()) reader.add(waiting)
        highest = maxOf(highest, waiting)
        return highest
    }
}

/** The most waiters that there were at a time since a reader last took it. */
internal class PeakReader {
    private val peak = AtomicInteger()

    /** Under the lock of the core, so without a lambda: the JVM would make a class for it there. */
    fun add(waiting: Int) {
        while (true) {
            val now = peak.get()
            if (now >= waiting || peak.compareAndSet(now, waiting)) return
        }
    }

    /** Begins a new peak with the [waiting] waiters of the look that has just been. */
    fun take(waiting: Int): Int = maxOf(peak.getAndSet(waiting), waiting)
}
