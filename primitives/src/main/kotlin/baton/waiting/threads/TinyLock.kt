package baton.waiting.threads

import baton.InternalBatonApi
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.util.concurrent.locks.LockSupport

/**
 * The base of an object that has a lock for a few dozen instructions: a word. The lock is not reentrant.
 *
 * A thread that finds it taken looks three times more, after longer and longer pauses, yields the processor, and parks
 * for a time when many yields have not helped, because the holder may be preempted. It looks so seldom because each
 * look takes the word's cache line from the holder, which writes beside it, and so slows the holder. It looks at all
 * before it yields because a virtual thread that yields waits until others of its carrier have run.
 * `SYNCHRONIZATION.md` has the cost, measured and on paper.
 */
@InternalBatonApi
public abstract class TinyLock {
    /** 1 while a thread has the lock, else 0. */
    @Volatile @JvmField @PublishedApi internal var lockWord: Int = 0

    /** Runs [action] under the lock. */
    public inline fun <R> locked(action: () -> R): R {
        lock()
        try {
            return action()
        } finally {
            unlockLazily()
        }
    }

    @PublishedApi
    internal fun lock() {
        if (!LOCK.compareAndSet(this, 0, 1)) lockSlowly()
    }

    internal fun unlock() {
        lockWord = 0
    }

    /**
     * As [unlock], but the thread does not wait until all processors see it: so what the thread reads of others
     * afterwards, without a lock or an atomic operation, may be older. The caller's frame has the way out where the
     * stack has no room left.
     */
    @PublishedApi
    @Suppress("NOTHING_TO_INLINE")
    internal inline fun unlockLazily() {
        try {
            LOCK.setRelease(this, 0)
        } catch (_: StackOverflowError) {
            lockWord = 0
        }
    }

    private fun lockSlowly() {
        var tries = 0
        while (true) {
            if (lockWord == 0 && LOCK.compareAndSet(this, 0, 1)) return
            tries++
            when {
                tries <= LOOKS -> repeat(1 shl tries) { Thread.onSpinWait() }
                tries <= LOOKS + YIELDS -> Thread.yield()
                else -> LockSupport.parkNanos(PAUSE_NANOS)
            }
        }
    }

    /** Makes visible, without the lock, what was written before the lock was last released. */
    public fun acquireReleased(): Int = lockWord

    @PublishedApi
    internal companion object {
        private const val LOOKS = 3
        private const val YIELDS = 64
        private const val PAUSE_NANOS = 50_000L

        @JvmField
        @PublishedApi
        internal val LOCK: VarHandle =
            MethodHandles.lookup().findVarHandle(TinyLock::class.java, "lockWord", Int::class.javaPrimitiveType)
    }
}
