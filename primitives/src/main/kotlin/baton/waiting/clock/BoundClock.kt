package baton.waiting.clock

import baton.BatonClock
import baton.InternalBatonApi
import baton.waiting.threads.Timeouts
import baton.waiting.threads.Trampoline
import java.lang.ref.WeakReference
import java.time.Instant
import kotlin.coroutines.ContinuationInterceptor
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.ExperimentalCoroutinesApi
import kotlinx.coroutines.Job

/**
 * The clock of an object: the [given] one, or the one to which the object binds itself.
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
 * @param owner null for an object without waiters.
 * @param context of what the object belongs to from the beginning: a call, a scope.
 */
@InternalBatonApi
public class BoundClock(
    private val given: BatonClock?,
    private val owner: ClockOwner? = null,
    context: CoroutineContext? = null,
) {
    private val start = (given ?: RealClock.SYSTEM).nanoTime()

    /** Null for the clock that is given or, while the object is not bound, the system's. */
    @Volatile
    private var binding: Binding? =
        if (context != null && given == null && VirtualTime.isPossible) virtualBinding(context) else null

    private val isFixed = given != null || context != null

    private val mayBind: Boolean
        get() = VirtualTime.isPossible && !isFixed

    private fun virtualBinding(context: CoroutineContext) =
        VirtualTime.clockOf(context)?.let { Binding(it, 0, rootOf(context[Job]), date = null) }

    /**
     * @property base what [BoundClock.read] returned when this began.
     * @param test the root of the jobs of the caller that has bound the object.
     * @property date when this began; null for what the clock says.
     */
    private class Binding(val clock: BatonClock, private val base: Long, test: Job?, private val date: Instant?) {
        private val start = clock.nanoTime()
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
    }

    private val clock: BatonClock
        get() = binding?.clock ?: given ?: RealClock.SYSTEM

    private val label: String
        get() = owner?.ownerLabel ?: "this object"

    /** Whether time passes by itself. */
    public val isReal: Boolean
        get() = clock is RealClock

    /** The nanoseconds since this was made. Throws what the clock throws. */
    public fun read(): Long {
        val bound = binding ?: return (given ?: RealClock.SYSTEM).nanoTime() - start
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
        val bound = binding ?: return clock.instant()
        return bound.instant()
    }

    /** Called by each call that may suspend, in the [context] of the caller. */
    public fun bind(context: CoroutineContext) {
        if (!mayBind) return
        val clock = VirtualTime.clockOf(context) ?: RealClock.SYSTEM
        while (true) {
            val bound = binding
            val test = rootOf(context[Job])
            if (bound != null && isSame(bound.clock, clock)) return bound.usedBy(test)
            rebind(bound, clock, test)
        }
    }

    /** Unless another thread has bound this meanwhile. */
    private fun rebind(bound: Binding?, clock: BatonClock, test: Job?) {
        requireChange(bound, clock, test)
        val new = Binding(clock, read(), test, date = if (clock is VirtualClock) instant() else null)
        synchronized(this) { if (binding === bound) binding = new }
    }

    private fun isSame(one: BatonClock, other: BatonClock) =
        one === other || one is VirtualClock && other is VirtualClock && one.scheduler === other.scheduler

    private fun requireChange(bound: Binding?, clock: BatonClock, test: Job?) {
        if (bound == null && clock is RealClock) return
        check(owner?.isAwaited != true) {
            "$label has callers that wait in ${this.clock}, and a caller in $clock: $REMEDY"
        }
        if (bound == null) return
        val isMixed =
            if (clock is RealClock) bound.isVirtual && bound.testGoesOn else !bound.isVirtual && bound.isOf(test)
        check(!isMixed) { "$label was used in ${bound.clock}, and now in $clock, in one test: $REMEDY" }
    }

    /** Called by each call without a coroutine that depends on the time. */
    public fun requireKnown() {
        if (mayBind) requireKnownHere(binding)
    }

    private fun requireKnownHere(bound: Binding?) {
        val isOfTest = bound != null && bound.isVirtual && bound.testGoesOn
        if (VirtualTime.isTestThread()) {
            check(isOfTest) {
                "$label does not know the time of the test: $REMEDY, or call one of its suspend functions first"
            }
        } else {
            check(!isOfTest) { "$label is used in ${bound?.clock}, and now by ${Thread.currentThread()}: $REMEDY" }
            leaveEndedTest()
        }
    }

    /** Called by a thread that runs no test. */
    private fun leaveEndedTest() {
        while (true) {
            val bound = binding
            if (bound == null || !bound.isVirtual || bound.testGoesOn) return
            rebind(bound, RealClock.SYSTEM, test = null)
        }
    }

    /** A thread cannot wait for a clock that does not go on by itself. */
    public fun requireReal() {
        if (mayBind && !VirtualTime.isTestThread()) leaveEndedTest()
        val clock = clock
        check(clock is RealClock) { "$label has the clock $clock, for which no thread can wait: use its futures" }
    }

    /**
     * Runs [action] once [timeout] has passed for a caller in [context], which is empty for a caller without a
     * coroutine. Null for a timeout that never ends.
     */
    public fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        val clock = clock
        val isOfDispatcher = !given.hasTimers() && (clock is RealClock || context[ContinuationInterceptor] != null)
        if (isOfDispatcher) return Timeouts.schedule(timeout, context, action)
        if (timeout.isInfinite()) return null
        return clock.timer(timeout.toJavaDuration(), action)
    }

    /** As [schedule], for a caller without a coroutine. */
    public fun schedule(millis: Long, action: Runnable): DisposableHandle {
        val clock = clock
        if (!given.hasTimers() && clock is RealClock) return Timeouts.schedule(millis, action)
        return clock.timer(java.time.Duration.ofMillis(millis), action)
    }

    override fun toString(): String = clock.toString()

    private companion object {
        const val REMEDY = VirtualTime.REMEDY

        @OptIn(ExperimentalCoroutinesApi::class)
        tailrec fun rootOf(job: Job?): Job? = if (job?.parent == null) job else rootOf(job.parent)
    }
}
