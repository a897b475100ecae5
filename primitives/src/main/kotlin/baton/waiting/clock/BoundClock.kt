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
 * 1. while anybody waits for the object: that one's timer would never fire, or its turn never come;
 * 2. while the test goes on to which the object is bound, if the other time is real: the two would each miss what
 *    passes in the other; and likewise a caller in virtual time, in the test that has used the object in real time
 *    before.
 *
 * A call without a coroutine cannot be asked for its time. It is refused on a thread that runs a test, if the object is
 * not bound to virtual time, and on another thread while the test goes on to which it is bound.
 *
 * A clock may be code of users: it is never read under a lock.
 *
 * @param label the object in messages.
 * @param isAwaited whether anybody waits for the object.
 */
@InternalBatonApi
public class BoundClock(
    private val given: BatonClock?,
    private val label: () -> String = { "this object" },
    private val isAwaited: () -> Boolean = { false },
) {
    private val hasNoTimers = !given.hasTimers()
    @Volatile private var binding = Binding(given ?: RealClock.SYSTEM, 0, isBound = given != null)

    /** @property base what [read] returned when this began. */
    private class Binding(
        val clock: BatonClock,
        val base: Long,
        val isBound: Boolean,
        test: Job? = null,
        date: Instant? = null,
    ) {
        private val start = clock.nanoTime()
        private val date = date

        /** The root of the jobs of the caller that has bound the object. */
        private val test = test?.let(::WeakReference)

        val isVirtual = clock !is RealClock

        val goesOn
            get() = test?.get()?.isCompleted == false

        fun isOf(job: Job?) = job != null && test?.get() === job

        fun read() = base + (clock.nanoTime() - start)

        fun instant(): Instant = if (date == null) clock.instant() else date.plusNanos(clock.nanoTime() - start)
    }

    /** Whether time passes by itself. */
    public val isReal: Boolean
        get() = !binding.isVirtual

    /** The nanoseconds since this was made. Throws what the clock throws. */
    public fun read(): Long = binding.read()

    /** As [read], for what must not fail halfway: what the clock throws is reported, and [otherwise] returned. */
    public fun readOr(otherwise: Long): Long =
        try {
            read()
        } catch (e: Throwable) {
            Trampoline.report(e)
            otherwise
        }

    /** The date and time. Throws what the clock throws. */
    public fun instant(): Instant = binding.instant()

    /** Called by each call that may suspend, in the [context] of the caller. */
    public fun bind(context: CoroutineContext) {
        if (!VirtualTime.isPossible || given != null) return
        val clock = VirtualTime.clockOf(context) ?: RealClock.SYSTEM
        while (true) {
            val bound = binding
            if (bound.isBound && isSame(bound.clock, clock)) return
            val test = rootOf(context[Job])
            if (bound.isBound) requireChange(bound, clock, test)
            replace(bound, clock, test)
        }
    }

    @Synchronized
    private fun replace(bound: Binding, clock: BatonClock, test: Job?) {
        if (binding !== bound) return
        val date = if (clock is RealClock) null else bound.instant()
        binding = Binding(clock, bound.read(), isBound = true, test, date)
    }

    private fun isSame(one: BatonClock, other: BatonClock) =
        one === other || one is VirtualClock && other is VirtualClock && one.scheduler === other.scheduler

    private fun requireChange(bound: Binding, clock: BatonClock, test: Job?) {
        check(!isAwaited()) { "${label()} has callers that wait in ${bound.clock}, and a caller in $clock: $REMEDY" }
        val isMixed = if (clock is RealClock) bound.isVirtual && bound.goesOn else !bound.isVirtual && bound.isOf(test)
        check(!isMixed) { "${label()} was used in ${bound.clock}, and now in $clock, in one test: $REMEDY" }
    }

    /** Called by each call without a coroutine that depends on the time. */
    public fun requireKnown() {
        if (VirtualTime.isPossible && given == null) requireThread(binding)
    }

    private fun requireThread(bound: Binding) {
        val isOfTest = bound.isVirtual && bound.goesOn
        if (VirtualTime.isTestThread() == isOfTest) return
        check(!isOfTest) { "${label()} is used in ${bound.clock}, and now by ${Thread.currentThread()}: $REMEDY" }
        error("${label()} does not know the time of the test: $REMEDY, or call one of its suspend functions first")
    }

    /** A thread cannot wait for a clock that does not go on by itself. */
    public fun requireReal() {
        val clock = binding.clock
        check(clock is RealClock) { "${label()} has the clock $clock, for which no thread can wait: use its futures" }
    }

    /**
     * Runs [action] once [timeout] has passed for a caller in [context], which is empty for a caller without a
     * coroutine. Null for a timeout that never ends.
     */
    public fun schedule(timeout: Duration, context: CoroutineContext, action: Runnable): DisposableHandle? {
        val clock = binding.clock
        val isOfDispatcher = hasNoTimers && (clock is RealClock || context[ContinuationInterceptor] != null)
        if (isOfDispatcher) return Timeouts.schedule(timeout, context, action)
        if (timeout.isInfinite()) return null
        val timer = clock.schedule(timeout.toJavaDuration(), action)
        return DisposableHandle { timer.close() }
    }

    /** As [schedule], for a caller without a coroutine. */
    public fun schedule(millis: Long, action: Runnable): DisposableHandle {
        val clock = binding.clock
        if (hasNoTimers && clock is RealClock) return Timeouts.schedule(millis, action)
        val timer = clock.schedule(java.time.Duration.ofMillis(millis), action)
        return DisposableHandle { timer.close() }
    }

    override fun toString(): String = binding.clock.toString()

    private companion object {
        const val REMEDY = VirtualTime.REMEDY

        @OptIn(ExperimentalCoroutinesApi::class)
        tailrec fun rootOf(job: Job?): Job? = if (job?.parent == null) job else rootOf(job.parent)
    }
}
