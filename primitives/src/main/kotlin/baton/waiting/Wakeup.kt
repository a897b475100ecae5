package baton.waiting

import baton.InternalBatonApi
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.Dispatchers

/**
 * An action that a decision of a core leaves for when the lock is free: most often a [Waiter] to resume, but also a
 * batch of them, or a call of users' code. The wake list of [WaitCore] links them through [chain].
 */
@InternalBatonApi
public abstract class Wakeup {
    /** The next entry of the wake list. Guarded by the lock of the core, then the waking thread's. */
    @JvmField internal var chain: Wakeup? = null

    /** Runs without a lock. Returns the first of those to wake next, because a grant found no receiver; or null. */
    internal abstract fun arrive(): Wakeup?
}

/**
 * Wakes a chain, and those that come in because one of them did not take its grant: in a loop, so that a million lost
 * grants in a row need no stack. No lock is held.
 *
 * An entry may run user code in place. So a chain is not woken on the timer thread that all coroutines share, where a
 * `withTimeout` cancels.
 */
internal fun wakeAll(first: Wakeup) {
    if (Timeouts.isOnSharedTimer()) Timeouts.offSharedTimer { wakeHere(first) } else wakeHere(first)
}

private fun wakeHere(first: Wakeup) {
    var next: Wakeup? = first
    while (next != null) {
        val entry: Wakeup = next
        next = entry.chain
        entry.chain = null
        val more = arriveGuarded(entry) ?: continue
        var last: Wakeup = more
        while (true) last = last.chain ?: break
        last.chain = next
        next = more
    }
}

/** An exception of a wake-up, such as a stack overflow, must not keep the others from being woken. */
private fun arriveGuarded(entry: Wakeup): Wakeup? =
    try {
        entry.arrive()
    } catch (e: Throwable) {
        Rewaking(entry).begin(e)
        null
    }

/**
 * Wakes [entry] again, because what it lacked (stack, memory, a thread) may be there by then: at once on another stack,
 * then for about a minute after pauses that double up to a second. Reports the first failure and the last. It is true
 * once it has begun.
 */
private class Rewaking(private val entry: Wakeup) : AtomicBoolean(), Runnable {
    private var tries = 0

    fun begin(failure: Throwable) {
        Trampoline.report(failure)
        try {
            Dispatchers.Default.dispatch(EmptyCoroutineContext, this)
        } catch (_: Throwable) { // The dispatcher may have queued this all the same.
            Trampoline.guarded { Timeouts.schedule(pauseMillis(), this) }
        }
    }

    override fun run() {
        if (compareAndSet(false, true)) wake()
    }

    private fun wake() {
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
        try {
            Timeouts.schedule(pauseMillis(), ::wake)
        } catch (_: Throwable) {
            paused.add(this)
            pauseHere()
        }
    }

    /** Without a thread for a timer, one thread at a time, of [Dispatchers.Default], pauses for all. */
    private fun pauseHere() {
        while (!paused.isEmpty() && isPausing.compareAndSet(false, true)) {
            try {
                LockSupport.parkNanos(pauseMillis() * 1_000_000)
                repeat(paused.size) { paused.poll()?.wake() }
            } finally {
                isPausing.set(false)
            }
        }
    }

    private fun pauseMillis(): Long = 1L shl minOf(tries, 10)

    private companion object {
        const val TRIES = 70
        val paused = ConcurrentLinkedQueue<Rewaking>()
        val isPausing = AtomicBoolean()
    }
}
