package baton.shared.core

import baton.shared.SharedLock
import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.waiting.ChangeWord
import baton.waiting.Parking
import baton.waiting.ThreadWaiter
import kotlin.time.Duration
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull

/**
 * Counts signals. Waiters of all processes wait until the count changes.
 *
 * ```
 * +0 u32 word, see WakeWord: the number of signals so far
 * ```
 * 1. A waiter reads the number while it holds the mutex, and goes on when it has changed. So a signal of a later holder
 *    reaches all that waited before, and the death of one of them loses it for none of the others.
 * 2. A signal wakes one sleeper and signalAll wakes all. Those that a signal does not wake see the change at the end of
 *    their slice, which is one of the spurious wake-ups.
 * 3. A waiter has no record anywhere, so it can leave at any time. A waiter that slept passes its wake on, see
 *    [WordPoll][baton.shared.waiting.WordPoll].
 */
internal class SharedConditionCore(
    private val memory: SharedMemory,
    shared: SharedObject,
    val name: String,
    private val mutex: SharedMutexCore,
) : RegionMember {
    private val signals = ChangeWord(memory, shared.words)
    private val watch = signals.newWatch()

    /** Returns whether there was a signal, with [lock] held in either case. Null: no [timeout]. */
    suspend fun await(lock: SharedLock, timeout: Duration?): Boolean {
        if (!mayWait(lock, timeout)) return false
        currentCoroutineContext().ensureActive()
        val seen = signals.count
        lock.beginAwait(mutex)
        try {
            if (timeout == null) awaitSignal(seen) else withTimeoutOrNull(timeout) { awaitSignal(seen) }
        } finally {
            withContext(NonCancellable) { mutex.relock(lock) }
        }
        return signals.count != seen
    }

    private suspend fun awaitSignal(seen: Int) {
        watch.await(probe = {}) { signalSince(seen) }
    }

    /** As [await], for a thread that may block. */
    fun awaitBlocking(lock: SharedLock, timeout: Duration?): Boolean {
        ThreadWaiter.throwIfInterrupted()
        if (!mayWait(lock, timeout)) return false
        val seen = signals.count
        lock.beginAwait(mutex)
        try {
            watch.awaitBlocking(timeout?.inWholeNanoseconds ?: Parking.FOREVER, probe = {}) { signalSince(seen) }
        } finally {
            mutex.relockBlocking(lock)
        }
        return signals.count != seen
    }

    private fun mayWait(lock: SharedLock, timeout: Duration?): Boolean {
        memory.check()
        if (timeout == null || timeout > Duration.ZERO) return true
        lock.checkHeld(mutex)
        return false
    }

    private fun signalSince(seen: Int): Unit? = if (signals.count == seen) null else Unit

    fun signal(isForAll: Boolean) {
        memory.check()
        if (!mutex.isHeldHere) {
            memory.check() // The end of the region may have just taken the lock.
            throw IllegalStateException("signal of $this, whose mutex this process does not hold")
        }
        if (isForAll) signals.announce() else signals.signal()
    }

    override fun regionEnded(isUsable: Boolean) {
        if (isUsable) signals.announce()
    }

    override fun toString(): String = "SharedCondition '$name' of $mutex"
}
