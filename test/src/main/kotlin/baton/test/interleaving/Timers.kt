package baton.test.interleaving

import java.util.PriorityQueue
import kotlinx.coroutines.DisposableHandle

/** The virtual time of a run, and what is due in it. A timer that is due adds its step to [ready]. */
internal class Timers(private val ready: MutableList<Step>) {
    private val timers = PriorityQueue<Timer>()
    private var count = 0L

    /** The time since the run began. */
    var nanos: Long = 0
        private set

    /** Has [step] ready once [wait] nanoseconds have passed, unless the result is disposed of before it is taken. */
    fun schedule(wait: Long, step: Step): DisposableHandle {
        val due = if (wait > Long.MAX_VALUE - nanos) Long.MAX_VALUE else nanos + wait.coerceAtLeast(0)
        return Timer(due, count++, step).also(timers::add)
    }

    /** Moves the time to the next timer, and has all ready that are due then. False if there is none. */
    fun advance(): Boolean {
        while (true) {
            val first = timers.poll() ?: return false
            if (first.isDisposed) continue
            nanos = first.due
            ready += first.step
            while (timers.peek()?.due == nanos) timers.poll().let { if (!it.isDisposed) ready += it.step }
            return true
        }
    }

    private inner class Timer(val due: Long, private val number: Long, val step: Step) :
        DisposableHandle, Comparable<Timer> {
        var isDisposed = false

        override fun compareTo(other: Timer): Int = compareValuesBy(this, other, Timer::due, Timer::number)

        override fun dispose() {
            if (isDisposed) return
            isDisposed = true
            ready.remove(step)
        }
    }
}
