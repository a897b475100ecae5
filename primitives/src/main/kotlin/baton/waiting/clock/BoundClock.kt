package baton.waiting.clock

import baton.BatonClock
import baton.InternalBatonApi
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.lang.invoke.MethodHandles
import java.lang.invoke.VarHandle
import java.lang.ref.WeakReference
import java.time.Instant
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job

/**
 * The clock of an object: the one that it was given, or the one to which the object binds itself.
 *
 * ```
 *   UNBOUND ──── first suspending call ───▶ REAL or VIRTUAL ──── a caller in another time ───▶ bound anew, or refused
 * ```
 *
 * An object that is not bound has the system's clock. [read] goes on from where it was when the clock changes.
 *
 * A caller in another time is refused
 * 1. while a caller waits for the object: its timer would never fire, or its turn never come;
 * 2. if the object is bound to a test that has not ended and the other time is real, or the reverse within one test:
 *    each would miss the time that passes in the other.
 *
 * A call without a coroutine cannot be asked for its time. It is refused on a thread that runs a test, if the object is
 * not bound to virtual time, and on another thread while the test goes on to which it is bound. Once that has ended,
 * the thread is a caller in real time.
 *
 * A clock may be code of users: it is never read under a lock.
 *
 * @param given null for the one to which the object binds itself.
 * @param context of what the object belongs to from the beginning: a call, a scope.
 */
@InternalBatonApi
public open class BoundClock(given: BatonClock?, context: CoroutineContext? = null) {
    private val start = (given ?: RealClock.SYSTEM).nanoTime()

    /** Null for the clock of the system, while the object is not bound. */
    @Volatile
    private var binding: Binding? =
        when {
            given != null -> Binding(given, 0, start, isGiven = true)
            context != null && VirtualTime.isPossible -> virtualBinding(context)
            else -> null
        }

    private fun virtualBinding(context: CoroutineContext): Binding? {
        val clock = VirtualTime.clockOf(context) ?: return null
        return Binding(clock, 0, clock.nanoTime(), isGiven = false, rootOf(context[Job]))
    }

    /**
     * @property base what [BoundClock.read] returned when this began.
     * @property start what the [clock] showed then.
     * @param test the root of the jobs of the caller that has bound the object.
     * @property date when this began; null for what the clock says.
     */
    private class Binding(
        val clock: BatonClock,
        private val base: Long,
        private val start: Long,
        val isGiven: Boolean,
        test: Job? = null,
        private val date: Instant? = null,
    ) {
        @Volatile private var test = test?.let(::WeakReference)

        val isVirtual = clock !is RealClock

        val testGoesOn
            get() = test?.get()?.isCompleted == false

        fun isOf(job: Job?) = job != null && test?.get() === job

        /**
         * The root of a caller in virtual time may end before the test: a block that is not cancellable has its own. Of
         * those in real time the last one counts.
         */
        fun usedBy(job: Job?) {
            if (job != null && !isOf(job) && !(isVirtual && testGoesOn)) test = WeakReference(job)
        }

        fun read() = base + (clock.nanoTime() - start)

        fun instant(): Instant = date?.plusNanos(clock.nanoTime() - start) ?: clock.instant()

        /** Null if the dispatcher of the caller sets the timers. */
        fun timersFor(context: CoroutineContext): BatonClock? {
            val isOfClock = if (isGiven) clock.hasTimers() else isVirtual && context[ContinuationInterceptor] == null
            return if (isOfClock) clock else null
        }
    }

    private val clock: BatonClock
        get() = binding?.clock ?: RealClock.SYSTEM

    /** Whether time passes by itself. */
    public val isReal: Boolean
        get() = clock is RealClock

    /** The nanoseconds since this was made. Throws what the clock throws. */
    public fun read(): Long {
        val bound = binding ?: return System.nanoTime() - start
        return bound.read()
    }

    /** As [read], for what must not fail halfway: what the clock throws is reported, and [otherwise] returned. */
    public fun readOr(otherwise: Long): Long =
        try {
            read()
        } catch (e: Throwable) {
            Trampoline.report(e)
            otherwise
        }

    /** The date and time. Throws what the clock throws. */
    public fun instant(): Instant {
        val bound = binding ?: return RealClock.SYSTEM.instant()
        return bound.instant()
    }

    /** Called by each call of [owner] that may suspend, in the [context] of the caller. */
    public open fun bind(context: CoroutineContext, owner: ClockOwner) {
        if (!VirtualTime.isPossible || binding?.isGiven == true) return
        val clock = VirtualTime.clockOf(context) ?: RealClock.SYSTEM
        val test = rootOf(context[Job])
        while (true) {
            val bound = binding
            if (bound != null && isSame(bound.clock, clock)) return bound.usedBy(test)
            requireChange(bound, clock, test, owner)
            rebind(bound, clock, test)
        }
    }

    /** Unless another thread has bound this meanwhile. */
    private fun rebind(bound: Binding?, clock: BatonClock, test: Job?) {
        val date = if (clock is VirtualClock) instant() else null
        val new = Binding(clock, read(), clock.nanoTime(), isGiven = false, test, date)
        BINDING.compareAndSet(this, bound, new)
    }

    private fun isSame(one: BatonClock, other: BatonClock) =
        one === other || one is VirtualClock && other is VirtualClock && one.scheduler === other.scheduler

    private fun requireChange(bound: Binding?, clock: BatonClock, test: Job?, owner: ClockOwner) {
        if (bound == null && clock is RealClock) return
        check(!owner.isAwaited) {
            val ours = this.clock
            val theirs =
                if (ours is VirtualClock && clock is VirtualClock) "the virtual time of another test" else "$clock"
            "${owner.ownerLabel} has callers that wait in $ours, and a caller in $theirs: " +
                VirtualTime.remedyIn(ours, clock)
        }
        if (bound == null) return
        val isMixed =
            if (clock is RealClock) bound.isVirtual && bound.testGoesOn else !bound.isVirtual && bound.isOf(test)
        check(!isMixed) {
            "${owner.ownerLabel} was used in ${bound.clock}, and now in $clock, in one test: " +
                VirtualTime.remedyIn(bound.clock, clock)
        }
    }

    /** Called by each call of [owner] without a coroutine that depends on the time. */
    public open fun requireKnown(owner: ClockOwner) {
        if (VirtualTime.isPossible) requireKnown(binding, owner)
    }

    private fun requireKnown(bound: Binding?, owner: ClockOwner) {
        if (bound?.isGiven == true) return
        val isOfTest = bound != null && bound.isVirtual && bound.testGoesOn
        val runner = VirtualTime.runnerOfThread()
        if (runner == null) {
            check(!isOfTest) { threadText(owner) }
            leaveEndedTest()
        } else {
            check(isOfTest) { unknownText(owner, runner) }
        }
    }

    private fun threadText(owner: ClockOwner): String {
        val clock = clock
        val then = if (clock is VirtualClock) ". No thread can wait for that clock in a blocking call" else ""
        return "${owner.ownerLabel} is used in $clock, and now by ${Thread.currentThread()}: " +
            VirtualTime.remedyIn(clock) +
            then
    }

    private fun unknownText(owner: ClockOwner, runner: VirtualTime.Runner): String {
        val test = if (runner == VirtualTime.Runner.EXPLORE) "explore: " else "the test: ${VirtualTime.IN_TEST}, or, "
        return "${owner.ownerLabel} does not know the time of ${test}in the Kotlin API, call one of its suspend " +
            "functions first, for a limiter tryAcquire(timeout = Duration.ZERO)"
    }

    /** Called by a thread that runs no test. */
    private fun leaveEndedTest() {
        while (true) {
            val bound = binding
            if (bound == null || bound.isGiven || !bound.isVirtual || bound.testGoesOn) return
            rebind(bound, RealClock.SYSTEM, test = null)
        }
    }

    /** Called before a thread waits for [owner]: it cannot wait for a clock that does not go on by itself. */
    public open fun requireReal(owner: ClockOwner) {
        if (VirtualTime.isPossible && VirtualTime.runnerOfThread() == null) leaveEndedTest()
        val clock = clock
        check(clock is RealClock) {
            "${owner.ownerLabel} has the clock $clock, for which no thread can wait: use its futures"
        }
    }

    /**
     * Runs [action] once [timeout] has passed for a caller in [context], which is empty for a caller without a
     * coroutine. Null for a timeout that never ends.
     */
    public fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        val clock = binding?.timersFor(context) ?: return Timeouts.schedule(timeout, context, action)
        return if (timeout.isInfinite()) null else clock.timer(timeout.toJavaDuration(), action)
    }

    /** As [schedule], for a caller without a coroutine. */
    public fun schedule(millis: Long, action: Runnable): DisposableHandle {
        val clock = binding?.timersFor(EmptyCoroutineContext) ?: return Timeouts.schedule(millis, action)
        return clock.timer(java.time.Duration.ofMillis(millis), action)
    }

    override fun toString(): String = clock.toString()

    private companion object {
        private val BINDING: VarHandle =
            MethodHandles.lookup().findVarHandle(BoundClock::class.java, "binding", Binding::class.java)

        @OptIn(ExperimentalCoroutinesApi::class)
        tailrec fun rootOf(job: Job?): Job? = if (job?.parent == null) job else rootOf(job.parent)
    }
}
