package baton.shared

import baton.shared.core.SharedMutexCore
import baton.waiting.flight.FlightEvents
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
 * close it, but not while the lock waits for a [SharedCondition]. All members may be called from any thread.
 */
public class SharedLock internal constructor(private val core: SharedMutexCore) : AutoCloseable {
    @Volatile private var state = HELD

    @Volatile private var isMarked = false

    /**
     * Number of this acquisition, greater than those of all earlier ones in all processes. A store that remembers the
     * greatest number it has seen can refuse a write that comes late, from a holder that lost its lock. An await of a
     * [SharedCondition] replaces it.
     */
    public var fencingToken: Long = 0
        private set

    /**
     * Whether a holder died, or closed its region, within its section and no holder has marked the data as consistent
     * since. Stays true for all holders until [markConsistent].
     */
    public val abandoned: Boolean
        get() = isMarked

    @get:JvmSynthetic
    internal val isHeld: Boolean
        get() = state == HELD

    /**
     * The data are right again: the next holder is not told of the death. Does nothing if the lock is not [abandoned].
     *
     * @throws IllegalStateException if the lock is closed.
     * @throws SharedRegionException if the region has ended.
     */
    public fun markConsistent() {
        core.checkOpen()
        checkHeld(core)
        isMarked = false
    }

    /**
     * Unlocks, and publishes to the next holder, in any process, all that was written before. A second close does
     * nothing, and neither does the first if the region was closed: the lock is abandoned then.
     *
     * @throws IllegalStateException if the lock waits for a condition, and stays as it is; or if the word in the memory
     *   names another owner, because a program wrote to the file, and the word stays as it is.
     * @throws SharedRegionException if the file was removed or cut.
     */
    override fun close() {
        while (true) {
            val seen = state
            if (seen == CLOSED) return
            check(seen != WAITING) { notHeld() }
            if (!STATE.compareAndSet(this, seen, CLOSED)) continue
            return if (seen == HELD) core.release(isConsistent = !isMarked) else core.checkOpen()
        }
    }

    /**
     * @throws IllegalArgumentException if this is a lock of another mutex than [mutex].
     * @throws IllegalStateException if it is not held.
     */
    @JvmSynthetic
    internal fun checkHeld(mutex: SharedMutexCore) {
        require(core === mutex) { "$this, must be a lock of $mutex" }
        if (!isHeld) throw notHeldNow()
    }

    /** Unlocks [mutex] until [endAwait], as a step of an await of one of its conditions. Throws as [checkHeld]. */
    @JvmSynthetic
    internal fun beginAwait(mutex: SharedMutexCore) {
        checkHeld(mutex)
        if (!STATE.compareAndSet(this, HELD, WAITING)) throw notHeldNow()
        try {
            core.release(isConsistent = !isMarked)
        } catch (e: Throwable) {
            state = CLOSED
            throw e
        }
    }

    /** The await ends, and the mutex is locked again if this [isHeld]. */
    @JvmSynthetic
    internal fun endAwait(isHeld: Boolean) {
        state = if (isHeld) HELD else CLOSED
    }

    /** By the thread that has just locked, before the lock counts as held. */
    @JvmSynthetic
    internal fun begin(fencingToken: Long, isAbandoned: Boolean) {
        this.fencingToken = fencingToken
        if (isMarked != isAbandoned) isMarked = isAbandoned
        if (isAbandoned) FlightEvents.abandoned(core.toString())
    }

    /** The region ends; [isLost] if with its file. False when the lock is closed already. */
    @JvmSynthetic
    internal fun tryEnd(isLost: Boolean): Boolean = STATE.compareAndSet(this, HELD, if (isLost) LOST else CLOSED)

    /** The misuse; throws the end of the region if that has just taken the lock. */
    private fun notHeldNow(): IllegalStateException {
        core.checkOpen()
        return IllegalStateException(notHeld())
    }

    private fun notHeld(): String = "$core: this lock ${if (state == WAITING) "waits for a condition" else "is closed"}"

    override fun toString(): String {
        val label =
            when (state) {
                HELD -> "held"
                WAITING -> "waits for a condition"
                else -> "closed"
            }
        return "SharedLock of $core ($label, token $fencingToken, abandoned = $abandoned)"
    }

    private companion object {
        const val HELD = 0
        const val CLOSED = 1

        /** The file is lost, and the holder does not know yet. */
        const val LOST = 2

        /** In an await of a condition, which unlocked it and will lock it again. */
        const val WAITING = 3

        val STATE: AtomicIntegerFieldUpdater<SharedLock> =
            AtomicIntegerFieldUpdater.newUpdater(SharedLock::class.java, "state")
    }
}
