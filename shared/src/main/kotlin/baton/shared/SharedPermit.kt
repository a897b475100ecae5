package baton.shared

import baton.shared.core.SharedSemaphoreCore
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater

/**
 * Permits of a [SharedSemaphore] that were acquired together. [close] returns them.
 *
 * They belong to the region that acquired them and to this object, never to a thread: another thread or coroutine may
 * close it. All members may be called from any thread.
 *
 * @property permits how many they are.
 */
public class SharedPermit internal constructor(private val core: SharedSemaphoreCore, public val permits: Int) :
    AutoCloseable {
    @Volatile private var isClosed = 0

    /**
     * Returns the permits, and publishes all that was written before to the next callers that acquire, in any process.
     * A second close does nothing, and neither does the first if the region was closed, which returned the permits.
     *
     * @throws IllegalStateException if the memory says that this process holds fewer: a program wrote to the file.
     *   Nothing is returned.
     * @throws SharedRegionException if the file was removed or cut.
     */
    override fun close() {
        if (CLOSED.compareAndSet(this, 0, 1)) core.release(permits)
    }

    override fun toString(): String = "SharedPermit of $core ($permits, ${if (isClosed == 0) "held" else "closed"})"

    private companion object {
        val CLOSED: AtomicIntegerFieldUpdater<SharedPermit> =
            AtomicIntegerFieldUpdater.newUpdater(SharedPermit::class.java, "isClosed")
    }
}
