package baton.lincheck.world

import baton.Boosting
import baton.Priority
import baton.priority
import baton.waiting.BoundedBypass
import baton.waiting.holders.Boosts
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.coroutines.AbstractCoroutineContextElement
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.intrinsics.COROUTINE_SUSPENDED
import kotlin.coroutines.intrinsics.startCoroutineUninterceptedOrReturn
import kotlin.coroutines.resume
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Delay
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.Job
import kotlinx.coroutines.job
import kotlinx.coroutines.suspendCancellableCoroutine
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions
import org.jetbrains.lincheck.datastructures.Options
import org.jetbrains.lincheck.datastructures.StressOptions
import org.jetbrains.lincheck.datastructures.forClasses

/**
 * How long Lincheck looks.
 *
 * @property interleavings of each chosen scenario.
 * @property share the part of a test class's requested scenarios that is generated, in percent. At 100 the classes of
 *   one core take 20 to 40 s of processor time.
 */
enum class Effort(val interleavings: Int, val share: Int) {
    SHORT(interleavings = 20, share = 15),

    /** For all, under the profile `deep`. */
    DEEP(interleavings = 800, share = 500);

    private val actual
        get() = if (isDeep) DEEP else this

    /**
     * Model checking of the [chosen] scenarios, and of the scenarios that [ScenarioGenerator] generates.
     *
     * @param test the class with the operations.
     * @param generated how many scenarios are generated at a [share] of 100, and three of them at least; two of three
     *   have two threads, the others three.
     * @param spins how often a loop may iterate before Lincheck takes it for one that waits for other threads.
     * @param factor how many times as many interleavings of each chosen scenario.
     * @param configure sets further options of Lincheck.
     */
    fun checkInterleavings(
        test: Class<*>,
        sequential: Class<*>,
        chosen: List<Scenario>,
        generated: Int,
        spins: Int = SPINS,
        factor: Int = 1,
        configure: ModelCheckingOptions.() -> Unit = {},
    ) {
        fun checkEach(written: List<Scenario>, others: Int, interleavings: Int) =
            ModelCheckingOptions()
                // A thread that waits for a core's lock learns nothing by trying again.
                .loopIterationsBeforeThreadSwitch(spins)
                .sequentialSpecification(sequential)
                .addGuarantee(forClasses(FRAMES, STACK_RESERVE).allMethods().ignore())
                .allowSlowMachines()
                .iterations(others)
                .invocationsPerIteration(interleavings)
                .threads(ScenarioGenerator.MOST_THREADS)
                .actorsBefore(1)
                .actorsPerThread(ScenarioGenerator.MOST_ACTORS)
                .actorsAfter(1)
                .executionGenerator(ScenarioGenerator::class.java)
                .apply { written.forEach(::addCustomScenario) }
                .apply(configure)
                .check(test)

        RewrittenOnce.ensure()
        val others = maxOf(generated * actual.share / 100, minOf(generated, ScenarioGenerator.ROUND))
        val ofChosen = factor * actual.interleavings
        if (ofChosen == INTERLEAVINGS) {
            // One check takes less time than two.
            checkEach(chosen, others, INTERLEAVINGS)
        } else {
            checkEach(chosen, 0, ofChosen)
            checkEach(emptyList(), others, INTERLEAVINGS)
        }
    }

    companion object {
        private val isDeep = java.lang.Boolean.getBoolean("lincheck.deep")

        private val TIMEOUT = 10.minutes

        /**
         * Interleavings of each generated scenario. A defect shows in few interleavings of the right scenario, so there
         * are many scenarios.
         */
        private const val INTERLEAVINGS = 20

        const val SPINS = 2
        const val DEEP_RUNS = 10_000

        /**
         * The frames that an exception gets. The JVM reads them from an annotation, whose first reading waits in a loop
         * when another thread is in the middle of it: with that thread stopped, Lincheck would see a hang.
         */
        private const val FRAMES = "baton.waiting.coroutine.CallerFramesKt"
        private const val STACK_RESERVE = "baton.waiting.threads.StackReserveKt"

        /** For code that looks at all levels, in a loop that waits for no other thread. */
        val SPINS_OVER_LEVELS = BoundedBypass.LEVELS + 2

        /** Real threads, in [scenarios] scenarios of chance and in the [chosen], each [runs] times. */
        fun stress(
            sequential: Class<*>,
            chosen: List<Scenario>,
            scenarios: Int = 60,
            runs: Int = DEEP_RUNS,
        ): StressOptions {
            check(!RewrittenOnce.isOn) { "real threads would run code that was rewritten for model checking" }
            return StressOptions()
                .iterations(scenarios)
                .invocationsPerIteration(runs)
                .threads(3)
                .actorsBefore(2)
                .actorsPerThread(3)
                .actorsAfter(2)
                .executionGenerator(PromptCancellationGenerator::class.java)
                .sequentialSpecification(sequential)
                .allowSlowMachines()
                .apply { chosen.forEach(::addCustomScenario) }
        }

        /**
         * Model checking sees a deadlock and an endless loop by itself. Beyond that, Lincheck takes an execution of 30
         * s for a hang. An execution may load and rewrite many classes, and a slow machine needs more than 30 s for
         * them. Lincheck hides the setting from Kotlin.
         */
        private fun <O : Options<O, *>> O.allowSlowMachines(): O = apply {
            Options::class
                .java
                .getMethod("invocationTimeout\$lincheck", Long::class.java)
                .invoke(this, TIMEOUT.inWholeMilliseconds)
        }
    }
}

/**
 * Runs [block] in a coroutine with a job and a dispatcher of its own, so that Lincheck can cancel it.
 *
 * Lincheck cancels only by means of a [CancellableContinuation], which Baton's waiters are not. So one stands in front.
 * Cancelling it cancels the job. The dispatcher resumes it, and the dispatched block runs when Lincheck resumes the
 * operation. If Lincheck cancels it in between (prompt cancellation), the job is cancelled before the block runs, and
 * Lincheck does not resume the operation.
 *
 * @param timer receives the timer that [block] sets, if it sets one.
 * @param extra further elements of the coroutine's context.
 * @param job the coroutine's.
 * @param onSuspension runs when [block] has suspended: it waits then, or is about to go on.
 */
internal suspend fun <T> underLincheck(
    timer: LincheckTimer? = null,
    extra: CoroutineContext = EmptyCoroutineContext,
    job: Job = Job(),
    onSuspension: () -> Unit = {},
    block: suspend () -> T,
): T {
    val world = LincheckWorld<T>(timer, extra, job)
    val first = block.startCoroutineUninterceptedOrReturn(world)
    timer?.requestIsQueued()
    if (first !== COROUTINE_SUSPENDED) {
        @Suppress("UNCHECKED_CAST")
        return first as T
    }
    onSuspension()
    world.awaitDispatch()
    world.runDispatched()
    return world.outcome!!.getOrThrow()
}

/** In a coroutine's context: counts how many boosts were given and have not ended, where [Boosts] are in use. */
internal class LincheckBoosts : AbstractCoroutineContextElement(LincheckBoosts) {
    private val count = AtomicInteger()
    val given: Int
        get() = count.get()

    /** Of the callers of [thread], which have a level of their own. */
    fun contextOf(thread: Int): CoroutineContext = this + Priority.entries[thread % Priority.entries.size]

    fun give(): Boosting.Boost {
        val ended = AtomicBoolean()
        count.incrementAndGet()
        return Boosting.Boost { if (ended.compareAndSet(false, true)) count.decrementAndGet() }
    }

    companion object : CoroutineContext.Key<LincheckBoosts>
}

/** The timers of a scenario, one for each of Lincheck's threads. They go off when an operation says so. */
internal class LincheckClock {
    private val timers = AtomicReferenceArray<LincheckTimer?>(THREADS)

    fun timerOf(thread: Int) = LincheckTimer(timers, thread)

    /** The time of the request of [thread] is over, if it waits. */
    fun timePasses(thread: Int) {
        timers.getAndSet(thread, null)?.goOff()
    }
}

/**
 * The timer of one request.
 *
 * It goes off once the request is in the queue. A request whose time is over earlier than that returns false even if it
 * could have been granted at once, and no order of the operations explains that.
 */
internal class LincheckTimer(private val timers: AtomicReferenceArray<LincheckTimer?>, private val thread: Int) {
    private var action: Runnable? = null

    @Volatile private var mayGoOff = false

    fun set(action: Runnable): DisposableHandle {
        this.action = action
        timers.set(thread, this)
        return DisposableHandle {
            timers.compareAndSet(thread, this, null)
            requestIsQueued()
        }
    }

    /** Or is decided already. */
    fun requestIsQueued() {
        mayGoOff = true
    }

    fun goOff() {
        while (!mayGoOff) Thread.onSpinWait()
        action!!.run()
    }
}

/**
 * In a model: resumes the operation. An operation that is cancelled after that has been inside for a moment, which
 * others may have seen, and then [leave]s. Lincheck's verifier resumes the operation at once and cancels its job if
 * need be, so only the job shows the cancellation.
 */
internal fun CancellableContinuation<Boolean>.letIn(leave: () -> Unit) {
    resume(true)
    context.job.invokeOnCompletion(onCancelling = true) { leave() }
}

private class LincheckWorld<T>(private val timer: LincheckTimer?, extra: CoroutineContext, private val job: Job) :
    CoroutineDispatcher(), Boosting, Delay, Continuation<T> {
    override val context: CoroutineContext = extra + job + this

    override fun levelOf(context: CoroutineContext): Priority = context.priority ?: Priority.NORMAL

    override fun boost(context: CoroutineContext, level: Priority): Boosting.Boost =
        context[LincheckBoosts]?.give() ?: Boosting.Boost {}

    @Volatile
    var outcome: Result<T>? = null
        private set

    private val lock = Any()
    private var dispatched: Runnable? = null
    private var front: CancellableContinuation<Unit>? = null

    override fun resumeWith(result: Result<T>) {
        outcome = result
    }

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        val waiting =
            synchronized(lock) {
                check(dispatched == null) { "resumed twice" }
                dispatched = block
                front
            }
        waiting?.proceed()
    }

    override fun invokeOnTimeout(timeMillis: Long, block: Runnable, context: CoroutineContext): DisposableHandle =
        timer!!.set(block)

    override fun scheduleResumeAfterDelay(timeMillis: Long, continuation: CancellableContinuation<Unit>): Unit =
        throw UnsupportedOperationException()

    suspend fun awaitDispatch() {
        suspendCancellableCoroutine<Unit> { front ->
            front.invokeOnCancellation {
                job.cancel()
                // If another thread has granted to the coroutine meanwhile, the coroutine ends once that thread has
                // dispatched it, not before.
                while (outcome == null) Thread.onSpinWait()
            }
            val here =
                synchronized(lock) {
                    this.front = front
                    dispatched != null
                }
            if (here) front.resume(Unit)
        }
    }

    fun runDispatched() {
        dispatched!!.run()
    }

    /** Cancelled before it is resumed here, Lincheck cancels the continuation; afterwards, only its job. */
    private fun CancellableContinuation<Unit>.proceed() {
        context.job.invokeOnCompletion(onCancelling = true) { runCancelled() }
        resume(Unit) { _, _, _ -> runCancelled() }
    }

    private fun runCancelled() {
        job.cancel()
        runDispatched()
    }
}

/** Lincheck counts the phases before and after the parallel one as threads, too. */
internal const val THREADS = 8

/** Recorded by a thread that holds a mutex which it has locked without an owner. */
internal const val NO_OWNER = "no owner"
