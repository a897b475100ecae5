package baton.waiting.clock

import baton.BatonClock
import baton.waiting.threads.Trampoline
import java.time.Duration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Runnable

/** Runs [action] once [delay] has passed. */
internal fun BatonClock.timer(delay: Duration, action: Runnable): DisposableHandle = ClockTimer(schedule(delay, action))

/** A timer of a clock, which may be code of users: a failure to close it must not fail the waiter that was granted. */
private class ClockTimer(private val timer: AutoCloseable) : DisposableHandle {
    override fun dispose() {
        Trampoline.guarded { timer.close() }
    }
}
