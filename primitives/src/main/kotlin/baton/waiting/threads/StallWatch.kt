package baton.waiting.threads

import baton.InternalBatonApi
import java.util.concurrent.atomic.AtomicBoolean

/**
 * Looks every [millis], on the timer thread, at work that should go on. The looks end by themselves when no work is
 * left, so they outlive it by [millis] at most.
 *
 * After [begin], looks are due for as long as [progress] is not null: the one that finds null clears [isDue] and asks
 * again, because a [begin] in between has found it set.
 *
 * A look that fails, in [progress], [onStall] or [onIdle], is reported, and another one follows after [PAUSE_MILLIS].
 *
 * The timer is the system's, and no coroutine waits for it: a watch is for work whose threads or dispatchers stand
 * still, and whose tests may have a virtual clock.
 */
@InternalBatonApi
public abstract class StallWatch<P : Any>(private val millis: Long) {
    private val isDue = AtomicBoolean()

    /** Each call of [begin] may fail in the same way. */
    private val failures = SeldomReport()

    /** Whether another look will come. */
    public val isActive: Boolean
        get() = isDue.get()

    /** How far the work has come, equal to the former one if it has not gone on; null if there is none. */
    protected abstract fun progress(): P?

    /** It has come no further than [progress] between two looks. Must neither block nor lead to user code. */
    protected abstract fun onStall(progress: P)

    /** No work is left. As [onStall]. */
    protected open fun onIdle() {}

    /**
     * To be called when work has begun. [reached] is how far it has come; null if only the first look is to see that.
     */
    public fun begin(reached: P? = null) {
        if (isDue.compareAndSet(false, true)) lookLater(reached)
    }

    /** Throws if there is no thread for the timer. */
    protected open fun schedule(millis: Long, look: Runnable) {
        Timeouts.onTimerThread(millis, look)
    }

    private fun lookLater(before: P?, pause: Long = millis) {
        try {
            schedule(pause) { look(before) }
        } catch (e: Throwable) { // No thread for the timer: the next call of begin tries again.
            isDue.set(false)
            failures.report(PAUSE_MILLIS.toInt()) { e }
        }
    }

    private fun look(before: P?) {
        try {
            val now = lookNow(before)
            if (now != null) lookLater(now)
        } catch (e: Throwable) {
            Trampoline.report(e)
            isDue.set(true)
            lookLater(null, PAUSE_MILLIS)
        }
    }

    /** How far the work has come; null if no further look is due. */
    private fun lookNow(before: P?): P? {
        var now = progress()
        if (now != null && now == before) {
            onStall(now)
            now = progress()
        }
        if (now != null) return now
        onIdle()
        isDue.set(false)
        return progress()?.takeIf { isDue.compareAndSet(false, true) }
    }

    private companion object {
        const val PAUSE_MILLIS = 1_000L
    }
}
