package baton.waiting.threads

import baton.InternalBatonApi

/** Reports failures that may come at a high rate: the first, then another one when some time has passed since. */
@InternalBatonApi
public class SeldomReport {
    /** In milliseconds; 0 if there was none. An Int, which wraps around, keeps idle owners small. Guarded by this. */
    private var reportedAt = 0

    /** Reports [failure] to the thread's handler, unless the last report was less than [pauseMillis] ago. */
    public fun report(pauseMillis: Int, failure: () -> Throwable) {
        if (isDue(pauseMillis)) Trampoline.report(failure())
    }

    @Synchronized
    private fun isDue(pauseMillis: Int): Boolean {
        val now = (System.nanoTime() / 1_000_000).toInt() or 1 // Never 0.
        if (reportedAt != 0 && now - reportedAt in 0..<pauseMillis) return false
        reportedAt = now
        return true
    }
}
