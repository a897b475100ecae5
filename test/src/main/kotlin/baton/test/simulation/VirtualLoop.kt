package baton.test.simulation

import baton.BatonClock
import java.time.Duration
import java.time.Instant
import java.util.PriorityQueue
import java.util.SplittableRandom
import kotlinx.coroutines.DisposableHandle

/**
 * The virtual time of a simulation, and what is due in it. It runs on the thread that made it, one step after the
 * other; steps that are due at one time come in any order. As a clock, it is that of the network between the nodes.
 */
internal class VirtualLoop(private val random: SplittableRandom) : BatonClock {
    private val thread = Thread.currentThread()
    private val due = PriorityQueue<Event>()
    private var count = 0L

    /** The time since the simulation began. */
    var nanos: Long = 0
        private set

    /** Steps since the time moved last. */
    var stepsAtOnce: Int = 0
        private set

    /** The name of another thread that took part; null if there was none. */
    @Volatile
    var stranger: String? = null
        private set

    val isEmpty: Boolean
        get() = due.isEmpty()

    /** When the next step is due, which may have been disposed of. */
    val next: Long
        get() = due.peek()?.time ?: Long.MAX_VALUE

    /** Runs [block] once [wait] nanoseconds have passed. */
    fun after(wait: Long, block: Runnable): DisposableHandle {
        if (Thread.currentThread() !== thread) {
            stranger = Thread.currentThread().name
            return DisposableHandle {}
        }
        val time = if (wait > Long.MAX_VALUE - nanos) Long.MAX_VALUE else nanos + wait.coerceAtLeast(0)
        return Event(time, random.nextInt(), count++, block).also(due::add)
    }

    /** Runs the next step; nothing if that was disposed of. */
    fun step() {
        val event = due.poll() ?: return
        val block = event.block ?: return
        if (event.time > nanos) {
            nanos = event.time
            stepsAtOnce = 0
        }
        stepsAtOnce++
        event.block = null
        block.run()
    }

    override fun instant(): Instant = START.plusNanos(nanos)

    override fun nanoTime(): Long = nanos

    override fun schedule(delay: Duration, task: Runnable): AutoCloseable {
        val timer = after(nanosOf(delay), task)
        return AutoCloseable { timer.dispose() }
    }

    override fun toString(): String = "the virtual time of simulate"

    private class Event(val time: Long, private val order: Int, private val number: Long, var block: Runnable?) :
        DisposableHandle, Comparable<Event> {
        override fun compareTo(other: Event): Int {
            val byTime = time.compareTo(other.time)
            if (byTime != 0) return byTime
            val byOrder = order.compareTo(other.order)
            return if (byOrder != 0) byOrder else number.compareTo(other.number)
        }

        override fun dispose() {
            block = null
        }
    }

    companion object {
        val START: Instant = Instant.parse("2000-01-01T00:00:00Z")
        private val LONGEST = Duration.ofNanos(Long.MAX_VALUE)

        fun nanosOf(delay: Duration): Long = if (delay > LONGEST) Long.MAX_VALUE else delay.toNanos()
    }
}
