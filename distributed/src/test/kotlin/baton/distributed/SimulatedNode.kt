package baton.distributed

import baton.BatonClock
import java.time.Duration
import java.time.Instant
import kotlin.coroutines.CoroutineContext
import kotlin.time.toKotlinDuration
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.test.TestCoroutineScheduler
import kotlinx.coroutines.test.TestDispatcher

/**
 * A machine in virtual time: all that it runs can be stopped for a while, as by SIGSTOP, and its wall clock can jump.
 */
@OptIn(InternalCoroutinesApi::class)
internal class SimulatedNode(private val time: TestDispatcher) : CoroutineDispatcher(), Delay, BatonClock {
    private val scheduler: TestCoroutineScheduler = time.scheduler
    private val held = ArrayDeque<Runnable>()

    var isStopped = false
        private set

    /** How many of its own seconds pass in a second: that of a sound machine is within a tenth of 1. */
    var speed: Double = 1.0

    /** Added to the wall clock. */
    var wallOffset: Duration = Duration.ZERO

    fun stop() {
        isStopped = true
    }

    fun goOn() {
        isStopped = false
        val all = held.toList()
        held.clear()
        for (block in all) later(0, block)
    }

    private fun later(millis: Long, block: Runnable): DisposableHandle =
        (time as Delay).invokeOnTimeout(millis, { if (isStopped) held += block else block.run() }, time)

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        time.dispatch(context) { if (isStopped) held += block else block.run() }
    }

    @OptIn(ExperimentalCoroutinesApi::class)
    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        later(timeMillis) { with(continuation) { resumeUndispatched(Unit) } }
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
        later(timeMillis, block)

    @OptIn(ExperimentalCoroutinesApi::class)
    override fun nanoTime(): Long = (scheduler.currentTime * NANOS_PER_MILLI * speed).toLong()

    override fun instant(): Instant = START.plusNanos(nanoTime()).plus(wallOffset)

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val millis = (delay.toKotlinDuration().inWholeNanoseconds + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI
        val timer = later((millis.coerceAtLeast(0) / speed).toLong(), task)
        return AutoCloseable { timer.dispose() }
    }

    private companion object {
        const val NANOS_PER_MILLI = 1_000_000L
        val START: Instant = Instant.parse("2026-01-01T00:00:00Z")
    }
}
