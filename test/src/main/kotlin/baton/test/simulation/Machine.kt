package baton.test.simulation

import baton.BatonClock
import baton.test.interleaving.lineOf
import baton.waiting.clock.ClockedDispatcher
import java.time.Duration
import java.time.Instant
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlin.math.ceil
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.Job

/**
 * A machine in virtual time: the dispatcher of all that it runs, and its clock. While it stands still, as by SIGSTOP,
 * what is due waits; its clocks go on.
 *
 * @param beforeStep called before each of its steps; it may stop the machine.
 */
@OptIn(InternalCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class Machine(val name: String, private val loop: VirtualLoop, private val beforeStep: (Machine) -> Unit) :
    CoroutineDispatcher(), Delay, BatonClock, ClockedDispatcher {
    private val held = ArrayDeque<Runnable>()
    private val frames = LinkedHashMap<Job, CoroutineStackFrame>()

    override val clock: BatonClock
        get() = this

    var isStopped: Boolean = false
        private set

    /** Whether it stands still for ever. */
    var isDead: Boolean = false
        private set

    /** How many of its own seconds pass in a second. */
    var speed: Double = 1.0

    /** Added to the wall clock. */
    var wallOffset: Duration = Duration.ZERO

    /** Whether the lines at which its coroutines wait are kept. */
    var isRecorded: Boolean = false

    fun stop() {
        isStopped = true
    }

    fun goOn() {
        if (isDead) return
        isStopped = false
        val all = held.toList()
        held.clear()
        for (block in all) later(0, block)
    }

    fun kill() {
        isStopped = true
        isDead = true
        held.clear()
    }

    /** The lines at which coroutines of this wait. */
    fun lines(): List<String> = frames.entries.filter { it.key.isActive }.mapNotNull { lineOf(it.value) }.distinct()

    private fun later(wait: Long, block: Runnable): DisposableHandle =
        loop.after(ceil(wait / speed).toLong()) {
            if (!isStopped) beforeStep(this)
            if (!isStopped) block.run() else if (!isDead) held += block
        }

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        if (isRecorded) {
            val frame = block as? CoroutineStackFrame
            context[Job]?.let { if (frame != null) frames[it] = frame }
        }
        later(0, block)
    }

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        if (isRecorded) {
            val frame = continuation as? CoroutineStackFrame
            continuation.context[Job]?.let { if (frame != null) frames[it] = frame }
        }
        val timer = later(millis(timeMillis)) { with(continuation) { resumeUndispatched(Unit) } }
        continuation.invokeOnCancellation { timer.dispose() }
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
        later(millis(timeMillis), block)

    private fun millis(millis: Long) = if (millis > Long.MAX_VALUE / NANOS) Long.MAX_VALUE else millis * NANOS

    override fun nanoTime(): Long = (loop.nanos * speed).toLong()

    override fun instant(): Instant = VirtualLoop.START.plusNanos(nanoTime()).plus(wallOffset)

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val timer = later(VirtualLoop.nanosOf(delay), task)
        return AutoCloseable { timer.dispose() }
    }

    /** kotlinx.coroutines has a body for it, but not as a default method before 1.11. */
    @Deprecated("As in kotlinx.coroutines, which does not call it", level = DeprecationLevel.ERROR)
    override suspend fun delay(time: Long): Unit = throw UnsupportedOperationException()

    override fun toString(): String = name

    private companion object {
        const val NANOS = 1_000_000L
    }
}
