package baton.shared

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater

/**
 * One acquisition of a [SharedMutex]. [close] unlocks.
 *
 * ```
 * mutex.lock().use { lock ->
 *     if (lock.abandoned) {
 *         rebuild(bytes)
 *         lock.markConsistent()
 *     }
 *     storage.write(bytes, lock.fencingToken)
 * }
 * ```
 *
 * The lock belongs to the region that locked it and to this object, never to a thread: another thread or coroutine may
 * close it. All members may be called from any thread.
 */
public class SharedLock internal constructor(private val core: SharedMutexCore) : AutoCloseable {
    @Volatile private var state = HELD

    @Volatile private var isMarked = false

    /**
     * Number of this acquisition, greater than those of all earlier ones in all processes. A store that remembers the
     * greatest number it has seen can refuse a write that comes late, from a holder that lost its lock.
     */
    public var fencingToken: Long = 0
        private set

    /**
     * Whether a holder died, or closed its region, within its section and no holder has marked the data as consistent
     * since. Stays true for all holders until [markConsistent].
     */
    public val abandoned: Boolean
        get() = isMarked

    /**
     * The data are right again: the next holder is not told of the death. Does nothing if the lock is not [abandoned].
     *
     * @throws IllegalStateException if the lock is closed.
     * @throws SharedRegionException if the region has ended.
     */
    public fun markConsistent() {
        core.checkOpen()
        check(state == HELD) { "$core: this lock is closed" }
        isMarked = false
    }

    /**
     * Unlocks, and publishes to the next holder, in any process, all that was written before. A second close does
     * nothing, and neither does the first if the region was closed: the lock is abandoned then.
     *
     * @throws IllegalStateException if the word in the memory names another owner: a program wrote to the file. The
     *   word stays as it is.
     * @throws SharedRegionException if the file was removed or cut.
     */
    override fun close() {
        if (STATE.compareAndSet(this, HELD, CLOSED)) {
            core.release(isConsistent = !isMarked)
        } else if (STATE.compareAndSet(this, LOST, CLOSED)) {
            core.checkOpen()
        }
    }

    /** By the thread that has just locked, before any other sees this object. */
    @JvmSynthetic
    internal fun begin(fencingToken: Long, isAbandoned: Boolean) {
        this.fencingToken = fencingToken
        isMarked = isAbandoned
    }

    /** The region ends; [isLost] if with its file. False when the lock is closed already. */
    @JvmSynthetic
    internal fun tryEnd(isLost: Boolean): Boolean = STATE.compareAndSet(this, HELD, if (isLost) LOST else CLOSED)

    override fun toString(): String =
        "SharedLock of $core (${if (state == HELD) "held" else "closed"}, token $fencingToken, abandoned = $abandoned)"

    private companion object {
        const val HELD = 0
        const val CLOSED = 1

        /** The file is lost, and the holder does not know yet. */
        const val LOST = 2

        val STATE: AtomicIntegerFieldUpdater<SharedLock> =
            AtomicIntegerFieldUpdater.newUpdater(SharedLock::class.java, "state")
    }
}
