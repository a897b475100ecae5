package baton.shared.waiting

import baton.shared.region.SharedMemory
import baton.shared.region.Words
import java.util.concurrent.locks.LockSupport
import kotlinx.coroutines.delay
import kotlinx.coroutines.yield

/**
 * The waiting of one call for a word of another process: spins, yields, then slices of 1 to 8 ms. One object per call;
 * not thread-safe. The loop around it:
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
        memory.check()
        if (hasChangedWhileSpinning(expected)) return
        rounds++
        if (rounds <= YIELDS) yield() else delay(sliceMillis(LAST_DELAY_MILLIS))
        memory.check()
    }

    /**
     * As [pause], for a thread that may block. Ends by [deadlineNanos] of [System.nanoTime].
     *
     * @throws InterruptedException if the thread is interrupted.
     */
    fun pauseBlocking(expected: Int, deadlineNanos: Long) {
        memory.check()
        if (hasChangedWhileSpinning(expected)) return
        rounds++
        if (rounds <= YIELDS) {
            Thread.yield()
        } else {
            val left = deadlineNanos - System.nanoTime()
            val slice = FIRST_PARK_NANOS shl minOf(rounds - YIELDS, PARK_DOUBLINGS)
            if (left > 0) LockSupport.parkNanos(this, minOf(left, slice, LAST_PARK_NANOS))
        }
        if (Thread.interrupted()) throw InterruptedException()
        memory.check()
    }

    private fun hasChangedWhileSpinning(expected: Int): Boolean {
        if (rounds > 0) return words.getInt(offset) != expected
        repeat(SPINS) {
            if (words.getInt(offset) != expected) return true
            Thread.onSpinWait()
        }
        return false
    }

    private fun sliceMillis(limit: Long): Long = minOf(1L shl minOf(rounds - YIELDS - 1, DELAY_DOUBLINGS), limit)

    private companion object {
        const val SPINS = 100
        const val YIELDS = 5
        const val LAST_DELAY_MILLIS = 8L
        const val DELAY_DOUBLINGS = 3
        const val FIRST_PARK_NANOS = 25_000L
        const val LAST_PARK_NANOS = 1_000_000L
        const val PARK_DOUBLINGS = 6
        const val PROBE_NANOS = 25_000_000L
    }
}
