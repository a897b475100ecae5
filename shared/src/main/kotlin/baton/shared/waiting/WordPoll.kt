package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.resume
import kotlinx.coroutines.delay
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.yield

/**
 * The waiting of one call for a word of another process: spins, yields, then slices: of 1 to 8 ms by polling (a thread:
 * up to 1 ms), of 50 ms with a futex, where they bound the wait for a wake that died with its receiver. One object per
 * call; not thread-safe. The loop around it:
 * ```
 * val poll = WordPoll(memory, words, offset)
 * while (true) {
 *     val seen = words.getInt(offset)
 *     tryTake(seen)?.let { return it }
 *     if (poll.isProbeDue()) takeBackFromTheDead(seen)
 *     poll.pause(seen)
 * }
 * ```
 *
 * A pause ends early when the word changes, or for no reason at all. A call that leaves by an exception of a pause
 * (cancelled, interrupted, the region ended) has taken nothing since its last look. A timeout is set around the loop.
 *
 * @param withWaiters marks a value of the word, so that its next change wakes those that sleep on it.
 */
internal class WordPoll(
    private val memory: SharedMemory,
    private val words: Words,
    private val offset: Int,
    private val withWaiters: (Int) -> Int = { it },
) {
    /** Whether it has slept until a wake, so that others may sleep on the word, too. */
    var hasSlept: Boolean = false
        private set

    private var rounds = 0
    private var nextProbe = 0L

    /** Whether to look for dead owners now: once the short waits are over, and then at most every 25 ms. */
    fun isProbeDue(): Boolean {
        if (rounds <= YIELDS) return false
        val now = System.nanoTime()
        if (nextProbe != 0L && now - nextProbe < 0) return false
        nextProbe = now + PROBE_NANOS
        return true
    }

    /**
     * Suspends for one slice, while the word is [expected].
     *
     * @throws baton.shared.SharedRegionException if the region has ended.
     */
    suspend fun pause(expected: Int) {
        try {
            memory.check()
            if (hasChangedWhileSpinning(expected)) return
            rounds++
            if (rounds <= YIELDS) yield() else sleep(expected)
            memory.check()
        } catch (e: Throwable) {
            leave()
            throw e
        }
    }

    /**
     * As [pause], for a thread that may block. Ends by [deadlineNanos] of [System.nanoTime].
     *
     * @throws InterruptedException if the thread is interrupted.
     */
    fun pauseBlocking(expected: Int, deadlineNanos: Long) {
        try {
            memory.check()
            if (hasChangedWhileSpinning(expected)) return
            rounds++
            if (rounds <= YIELDS) Thread.yield() else sleepBlocking(expected, deadlineNanos - System.nanoTime())
            if (Thread.interrupted()) throw InterruptedException()
            memory.check()
        } catch (e: Throwable) {
            leave()
            throw e
        }
    }

    /**
     * Waits until [look] returns a value; null after [deadlineNanos] of [System.nanoTime]. [probe] looks for the dead,
     * and changes the word if it has changed anything else.
     *
     * @throws InterruptedException if the thread is interrupted.
     */
    fun <T : Any> awaitBlocking(deadlineNanos: Long, probe: () -> Unit, look: () -> T?): T? {
        while (true) {
            val seen = words.getInt(offset)
            look()?.let {
                return it
            }
            if (deadlineNanos - System.nanoTime() <= 0) return null.also { leave() }
            if (isProbeDue()) probe()
            pauseBlocking(seen, deadlineNanos)
        }
    }

    /**
     * The caller gives up, other than by an exception of a pause. A wake that was meant for it goes to another sleeper,
     * which marks the word again before it sleeps.
     */
    fun leave() {
        if (hasSlept) memory.wake(words, offset)
    }

    private suspend fun sleep(expected: Int) {
        if (!memory.wordWait.canWake) return delay(sliceMillis())
        val marked = mark(expected) ?: return
        val slice = sleepNanos()
        val hasThread = suspendCancellableCoroutine { continuation ->
            val accepted =
                SleeperPool.tryRun {
                    val slept = runCatching {
                        memory.wordWait.park(words, offset, marked, slice)
                        // A cancelled coroutine has left before: the wake that may have ended this sleep is passed on.
                        if (!continuation.isActive) leave()
                        true
                    }
                    continuation.resumeWith(slept)
                }
            if (!accepted) continuation.resume(false)
        }
        if (!hasThread) delay(LAST_DELAY_MILLIS)
    }

    private fun sleepBlocking(expected: Int, leftNanos: Long) {
        if (leftNanos <= 0) return
        if (!memory.wordWait.canWake) {
            val slice = FIRST_PARK_NANOS shl minOf(rounds - YIELDS, PARK_DOUBLINGS)
            return LockSupport.parkNanos(this, minOf(leftNanos, slice, LAST_PARK_NANOS))
        }
        val marked = mark(expected) ?: return
        val slice = minOf(leftNanos, sleepNanos())
        if (!VirtualThreads.isCurrent()) return memory.wordWait.park(words, offset, marked, slice)
        sleepForVirtualThread(marked, slice)
    }

    /** A virtual thread would keep its carrier for the whole call. */
    private fun sleepForVirtualThread(marked: Int, slice: Long) {
        val thread = Thread.currentThread()
        val isOver = AtomicBoolean()
        val hasLeft = AtomicBoolean()
        var failure: Throwable? = null // published by isOver
        val accepted =
            SleeperPool.tryRun {
                try {
                    memory.wordWait.park(words, offset, marked, slice)
                } catch (e: Throwable) {
                    failure = e
                } finally {
                    isOver.set(true)
                    LockSupport.unpark(thread)
                }
                if (hasLeft.get()) leave()
            }
        if (!accepted) return LockSupport.parkNanos(this, LAST_PARK_NANOS)
        while (!isOver.get() && !thread.isInterrupted) LockSupport.park(this)
        hasLeft.set(true)
        if (isOver.get()) failure?.let { throw it }
    }

    /** The word with the mark of a sleeper; null if it has changed. */
    private fun mark(expected: Int): Int? {
        val marked = withWaiters(expected)
        if (marked != expected && !words.casInt(offset, expected, marked)) return null
        hasSlept = true
        return marked
    }

    private fun sleepNanos(): Long = if (memory.anyCannotWake()) MIXED_SLEEP_NANOS else SLEEP_NANOS

    /** Looks more and more rarely, since each look takes the cache line from the holder. */
    private fun hasChangedWhileSpinning(expected: Int): Boolean {
        if (rounds > 0) return words.getInt(offset) != expected
        repeat(LOOKS) { look ->
            repeat(1 shl look) { Thread.onSpinWait() }
            if (words.getInt(offset) != expected) return true
        }
        return false
    }

    private fun sliceMillis(): Long = 1L shl minOf(rounds - YIELDS - 1, DELAY_DOUBLINGS)

    private companion object {
        const val LOOKS = 6
        const val YIELDS = 2
        const val LAST_DELAY_MILLIS = 8L
        const val DELAY_DOUBLINGS = 3
        const val FIRST_PARK_NANOS = 25_000L
        const val LAST_PARK_NANOS = 1_000_000L
        const val PARK_DOUBLINGS = 6
        const val SLEEP_NANOS = 50_000_000L

        /** While a member cannot wake: a longer sleep would lose against it almost every time. */
        const val MIXED_SLEEP_NANOS = 1_000_000L
        const val PROBE_NANOS = 25_000_000L
    }
}
