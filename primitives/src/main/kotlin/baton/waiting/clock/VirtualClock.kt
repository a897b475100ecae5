package baton.waiting.clock

import baton.BatonClock
import baton.InternalBatonApi
import baton.waiting.threads.Timeouts
import java.time.Duration
import java.time.Instant
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CoroutineDispatcher

/**
 * The virtual time of [scheduler], one of kotlinx-coroutines-test, by a [dispatcher] of it.
 *
 * @param start the date of the present moment.
 */
@InternalBatonApi
public class VirtualClock(
    internal val scheduler: Any,
    private val dispatcher: CoroutineDispatcher,
    private val start: Instant,
) : BatonClock {
    private val startMillis = currentMillis()

    override fun instant(): Instant = start.plusMillis(currentMillis() - startMillis)

    override fun nanoTime(): Long = Math.multiplyExact(currentMillis(), NANOS_PER_MILLI)

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        // The library refuses a negative delay.
        val timer = Timeouts.schedule(maxOf(delay, Duration.ZERO).toKotlinDuration(), dispatcher, task)
        return AutoCloseable { timer?.dispose() }
    }

    private fun currentMillis() = VirtualTime.millisOf(scheduler)

    override fun toString(): String = "the virtual time of runTest"

    private companion object {
        const val NANOS_PER_MILLI = 1_000_000L
    }
}
