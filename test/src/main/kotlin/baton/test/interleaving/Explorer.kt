package baton.test.interleaving

import baton.BatonClock
import baton.monitoring.Monitored
import baton.waiting.Parking
import baton.waiting.Waiter
import baton.waiting.clock.ClockedDispatcher
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
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
    CoroutineDispatcher(), Delay, ClockedDispatcher {
    override val clock: BatonClock = ExplorerClock(this)
    private val thread = Thread.currentThread()
    private val ready = ArrayList<Step>()
    private val timers = Timers(ready)
    private var choices = IntArray(64)
    private var pauses = false
    private var hasEnded = false

    /** Whether it has cancelled a coroutine. */
    var hasCancelled: Boolean = false
        private set

    /** The virtual time since the run began. */
    val nanos: Long
        get() = timers.nanos

    var steps: Int = 0
        private set

    val coroutines: Coroutines = Coroutines()

    /** The clocks on which timers were set, and whose time the run does not move. */
    val manualClocks: MutableList<Monitored> = ArrayList(0)

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
        if (outside == null) outside = Outside(context, Parking.nameOf(Thread.currentThread()))
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

    /** Runs [task], which belongs to no coroutine, once [wait] nanoseconds have passed. */
    fun scheduleTask(wait: Long, task: Runnable): DisposableHandle =
        timers.schedule(wait, Step(coroutines.of(EmptyCoroutineContext), Step.Kind.TIMEOUT, null, task))

    private fun schedule(millis: Long, step: Step): DisposableHandle =
        timers.schedule(if (millis > Long.MAX_VALUE / NANOS) Long.MAX_VALUE else millis * NANOS, step)

    /** Whether a step is ready, if need be because time moves to the next timers. */
    fun isReady(): Boolean = ready.isNotEmpty() || timers.advance()

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

    private fun cancel(victim: ExploredCoroutine) {
        victim.job?.cancel(CancelledByExplore())
    }

    /** kotlinx.coroutines has a body for it, but not as a default method before 1.11. */
    @Deprecated("As in kotlinx.coroutines, which does not call it", level = DeprecationLevel.ERROR)
    override suspend fun delay(time: Long): Unit = throw UnsupportedOperationException()

    override fun toString(): String = "the dispatcher of explore"

    companion object {
        const val MAX_STEPS: Int = 100_000
        private const val NANOS = 1_000_000L
        private val ON_THREAD = ThreadLocal<Explorer>()

        fun isOnThisThread(): Boolean = ON_THREAD.get() != null

        /** A timer is set on [clock], which only a call advances. */
        fun hasTimerOn(clock: Monitored) {
            ON_THREAD.get()?.run { if (clock !in manualClocks) manualClocks += clock }
        }
    }
}
