package baton.test.interleaving

import baton.waiting.Waiter
import java.util.PriorityQueue
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.jvm.internal.CoroutineStackFrame
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.InternalCoroutinesApi

/**
 * The dispatcher of one run. It takes one step after the other on the thread that made it, in the order that [order]
 * chooses, and fires timers in virtual time when no coroutine is ready.
 *
 * Tested against kotlinx-coroutines 1.8.1, 1.10.2 and 1.11.0, whose `Delay` is internal.
 */
@OptIn(InternalCoroutinesApi::class, ExperimentalCoroutinesApi::class)
internal class Explorer(private val order: Order, private val cancels: Boolean, private val story: Story?) :
    CoroutineDispatcher(), Delay {
    private val thread = Thread.currentThread()
    private val ready = ArrayList<Step>()
    private val timers = PriorityQueue<Timer>()
    private val coroutines = Coroutines()
    private var timersSet = 0L
    private var choices = IntArray(64)
    private var pauses = false
    private var hasEnded = false

    /** Whether it has cancelled a coroutine. */
    var hasCancelled: Boolean = false
        private set

    /** The virtual time since the run began. */
    var nanos: Long = 0
        private set

    var steps: Int = 0
        private set

    val alternatives: Alternatives = Alternatives()

    /** Which coroutines had which choices: two runs of the same order that differ here are of a body that does. */
    var trace: Long = 0
        private set

    /** Why the run has to end, if a thread that is not explored takes part. */
    @Volatile
    var outside: Outside? = null
        private set

    fun choices(): StepChoices = StepChoices(choices.copyOf(steps))

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        if (Thread.currentThread() !== thread) return foundOutside(context)
        val frame = block as? CoroutineStackFrame
        if (pauses) {
            pauses = false
            // In front: it is usual that the call follows at once.
            ready.add(0, Step(coroutines.of(context), Step.Kind.CALLS, frame, block))
        } else {
            ready += Step(coroutines.of(context), Step.Kind.GOES_ON, frame, block)
        }
    }

    /** Whether the coroutine with this [context] pauses before its call. If so, it is dispatched next. */
    fun pausesBefore(waiter: Waiter, context: CoroutineContext): Boolean {
        coroutines.of(context).call = waiter
        pauses = !hasEnded && ready.isNotEmpty() && Thread.currentThread() === thread
        return pauses
    }

    /** A coroutine with this [context] goes on in the calling thread, which is not the one of the run. */
    fun foundOutside(context: CoroutineContext) {
        if (outside == null) outside = Outside(context, Thread.currentThread().name)
    }

    fun isItsThread(): Boolean = Thread.currentThread() === thread

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>) {
        val frame = continuation as? CoroutineStackFrame
        val resumption = Runnable { with(continuation) { resumeUndispatched(Unit) } }
        val step = Step(coroutines.of(continuation.context), Step.Kind.GOES_ON, frame, resumption)
        val timer = schedule(timeMillis, step)
        continuation.invokeOnCancellation { timer.dispose() }
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
        schedule(timeMillis, Step(coroutines.of(context), Step.Kind.TIMEOUT, null, block))

    private fun schedule(millis: Long, step: Step): DisposableHandle {
        val wait = millis.coerceAtLeast(0)
        val due = if (wait > (Long.MAX_VALUE - nanos) / NANOS) Long.MAX_VALUE else nanos + wait * NANOS
        return Timer(due, timersSet++, step).also(timers::add)
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

    /**
     * Whether a coroutine is ready, if need be because time moves to the next timers. Those due together come together.
     */
    fun isReady(): Boolean {
        while (ready.isEmpty()) {
            val first = timers.poll() ?: return false
            if (first.isDisposed) continue
            nanos = first.due
            ready += first.step
            while (timers.peek()?.due == nanos) timers.poll().let { if (!it.isDisposed) ready += it.step }
        }
        return true
    }

    /** Takes a step, of one of the coroutines that are ready. */
    fun step() {
        val victims = if (cancels && !hasCancelled) coroutines.cancellable() else emptyList()
        val choice = order.choose(steps, ready, victims)
        note(choice, victims)
        if (choice < 0) {
            hasCancelled = true
            cancel(victims[Order.victim(choice)])
            return
        }
        val step = ready.removeAt(choice)
        step.coroutine.hasStarted = true
        step.coroutine.frame = step.frame
        step.block.run()
    }

    /** As [step], without a choice: the run has ended. */
    fun stepAfterEnd() {
        hasEnded = true
        ready.removeAt(0).block.run()
    }

    private fun note(choice: Int, victims: List<ExploredCoroutine>) {
        if (steps == choices.size) choices = choices.copyOf(2 * steps)
        choices[steps] = choice
        alternatives.add(ready.size, victims.size)
        trace = trace * 31 + ready.size
        trace = trace * 31 + ready[choice.coerceAtLeast(0)].coroutine.name.hashCode()
        if (story != null) {
            val text =
                if (choice < 0) "${victims[Order.victim(choice)]} is cancelled"
                else ready[choice].let { "${it.coroutine} ${it.describe()}" }
            val ahead = if (choice > 0) ", ahead of ${ready[0].coroutine}" else ""
            story.add(steps, choice != StepChoices.USUAL, text + ahead)
        }
        steps++
    }

    /** Runs [run], whose coroutines this dispatches. */
    fun <T> whileExploring(run: () -> T): T {
        val outer = ON_THREAD.get()
        ON_THREAD.set(this)
        try {
            return run()
        } finally {
            if (outer == null) ON_THREAD.remove() else ON_THREAD.set(outer)
        }
    }

    /** For a report: what the coroutines wait for that have not ended. */
    fun waits(bodyHasReturned: Boolean): List<String> =
        coroutines.active().map {
            if (bodyHasReturned && !it.isLaunched) "$it waits for what it launched" else waitOf(it)
        }

    private fun waitOf(coroutine: ExploredCoroutine): String {
        val call = coroutine.call?.takeIf { it.isWaiting }
        val line = coroutine.frame?.let { if (call == null) outermostLineOf(it) else lineOf(it) }
        val place = if (line == null) "" else " at $line"
        return if (call == null) "$coroutine is suspended$place"
        else "$coroutine waits for ${call.core.verbOf(call)} of ${call.core}$place"
    }

    private fun cancel(victim: ExploredCoroutine) {
        victim.job?.cancel(CancelledByExplore())
    }

    override fun toString(): String = "the dispatcher of explore"

    companion object {
        const val MAX_STEPS: Int = 100_000
        private const val NANOS = 1_000_000L
        private val ON_THREAD = ThreadLocal<Explorer>()

        fun isOnThisThread(): Boolean = ON_THREAD.get() != null
    }
}
