package baton

import baton.waiting.clock.RealClock
import baton.waiting.clock.VirtualClock
import java.time.Instant
import java.time.InstantSource
import kotlin.time.TimeSource
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope

/** A clock that shows the time of this source. Its timers are those of the dispatchers. */
fun TimeSource.asClock(): BatonClock {
    val start = markNow()
    return ReadClock(InstantSource { Instant.EPOCH }) { start.elapsedNow().inWholeNanoseconds }
}

private class ReadClock(dates: InstantSource, private val nanos: () -> Long) : RealClock(dates) {
    override val hasTimers: Boolean
        get() = false

    override fun nanoTime(): Long = nanos()
}

/** The virtual time of the test, from the epoch on. */
@OptIn(ExperimentalCoroutinesApi::class)
val TestScope.clock: BatonClock
    get() = VirtualClock(testScheduler, StandardTestDispatcher(testScheduler), Instant.EPOCH)

/** The virtual time of the test, with the dates of [source], which may jump. */
fun TestScope.clockWith(source: InstantSource): BatonClock = ReadClock(source, clock::nanoTime)
