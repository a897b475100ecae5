package baton.waiting

import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers

/**
 * Wakes [entry] again, because what it lacked (stack, memory, a thread) may be there by then: at once on another stack,
 * that of [elsewhere], then for about a minute after pauses that double up to a second. Reports the first failure and
 * the last.
 *
 * If there is no thread for that, neither of [elsewhere] nor of the timer, or no stack to ask for one, then the entry
 * waits in [paused] until a thread pauses for all. The next decision of any core looks for one.
 *
 * It is true from the begin of a try until that has failed, so tries do not overlap, and none follows a success: a
 * dispatcher may run this although it has thrown.
 */
internal class Rewaking(private val entry: Wakeup, private val elsewhere: CoroutineDispatcher = Dispatchers.Default) :
    AtomicBoolean(), Runnable {
    private var tries = 0

    fun begin(failure: Throwable) {
        Trampoline.report(failure)
        try {
            elsewhere.dispatch(EmptyCoroutineContext, this)
        } catch (_: Throwable) {
            if (!isTimerSet()) pause()
        }
    }

    override fun run() {
        if (!compareAndSet(false, true)) return
        val more =
            try {
                entry.arrive()
            } catch (e: Throwable) {
                return again(e)
            }
        if (more != null) wakeAll(more)
    }

    private fun again(failure: Throwable) {
        if (++tries == TRIES) return Trampoline.report(IllegalStateException("a wake-up is given up", failure))
        set(false)
        if (isTimerSet()) return
        pause()
        pauseHere()
    }

    private fun pause() {
        paused.add(this)
        isInUse = true
    }

    private fun isTimerSet(): Boolean =
        try {
            Timeouts.schedule(pauseMillis(), this)
            true
        } catch (_: Throwable) {
            false
        }

    /** One thread at a time, which has woken an entry in vain, pauses for all. */
    private fun pauseHere() {
        while (!paused.isEmpty() && isPausing.compareAndSet(false, true)) {
            LockSupport.parkNanos(pauseMillis() * 1_000_000)
            wakePaused()
        }
    }

    private fun pauseMillis(): Long = 1L shl minOf(tries, 10)

    companion object {
        private const val TRIES = 70
        private val paused = ConcurrentLinkedQueue<Rewaking>()
        private val isPausing = AtomicBoolean()

        /** Whether an entry has ever been paused. Until then a decision pays one read of a field for this. */
        @Volatile @JvmField var isInUse: Boolean = false

        /** If there is a thread for a timer by now, it wakes those that had none. */
        fun resumePaused() {
            if (paused.isEmpty() || !isPausing.compareAndSet(false, true)) return
            try {
                Timeouts.schedule(1) {
                    wakePaused()
                    resumePaused()
                }
            } catch (_: Throwable) {
                isPausing.set(false)
            }
        }

        private fun wakePaused() {
            try {
                repeat(paused.size) { paused.poll()?.run() }
            } finally {
                isPausing.set(false)
            }
        }
    }
}
