package baton.monitoring.core

import baton.waiting.clock.BoundClock
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/** When the looks of a monitor are. All that belongs to a look has the same time. */
internal class LookClock(private val clock: BoundClock) {
    /** The begin of the last look, in nanoseconds. */
    @Volatile
    var now: Long = clock.read()
        private set

    val isVirtual: Boolean
        get() = !clock.isReal

    /** The next look begins. Throws what the clock throws. */
    fun advance() {
        now = clock.read()
    }

    fun since(moment: Long): Duration = (now - moment).nanoseconds
}
