package baton.waiting.clock

import baton.BatonClock
import baton.waiting.threads.Timeouts
import java.time.Duration
import java.time.Instant
import java.time.InstantSource
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.toKotlinDuration

/** A clock whose time passes by itself, so that threads can wait for it. The dates of [source] may jump. */
internal open class RealClock(private val source: InstantSource) : BatonClock {
    /** False for one that replaces the readings alone: then the timers are those of the dispatchers. */
    internal open val hasTimers: Boolean
        get() = true

    override fun instant(): Instant = source.instant()

    override fun nanoTime(): Long = System.nanoTime()

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val timer = Timeouts.schedule(delay.toKotlinDuration(), EmptyCoroutineContext, task)
        return AutoCloseable { timer?.dispose() }
    }

    override fun toString(): String = if (this === SYSTEM) "BatonClock.system" else "BatonClock of $source"

    companion object {
        @JvmField val SYSTEM: RealClock = RealClock(InstantSource.system())
    }
}
