package baton.resilience.attempts

import baton.BatonClock
import baton.waiting.clock.onClock
import kotlin.coroutines.coroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.delay
import kotlinx.coroutines.withContext

/** Waits by [clock], or by that of the dispatcher. */
internal suspend fun waitFor(clock: BatonClock?, time: Duration) {
    if (clock == null) delay(time) else withContext(coroutineContext.onClock(clock)) { delay(time) }
}
