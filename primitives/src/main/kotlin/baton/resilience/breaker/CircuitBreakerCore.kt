package baton.resilience.breaker

import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.monitoring.Monitored
import baton.monitoring.core.CallListeners
import baton.resilience.BreakerState
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakerMetrics
import baton.resilience.CircuitOpenException
import baton.resilience.RetryPolicy
import baton.resilience.SlidingWindow
import baton.resilience.attempts.RetryArithmetic
import baton.resilience.breaker.BreakerMachine.Companion.FOREVER
import baton.resilience.breaker.BreakerMachine.Companion.UNREAD
import baton.waiting.Gate
import baton.waiting.Waiter
import baton.waiting.clock.BoundClock
import baton.waiting.labelOf
import baton.waiting.threads.Trampoline
import baton.waiting.threads.requireStack
import kotlin.time.Duration
import kotlin.time.Duration.Companion.nanoseconds

/**
 * The clock, the lock, the waiters and the listeners of a [BreakerMachine], each step of which is one decision:
 *
 * caller → CircuitBreaker: runs the block and isFailure → this: clock, lock, back-off → BreakerMachine decides → wakes
 * 1. The clock, the back-off and the random numbers are code of users. They are called before the lock is taken.
 * 2. A decision changes the state once at most. Once the lock is free, the callers that await CLOSED or DISABLED are
 *    woken as one batch, and then the listeners are called.
 * 3. In CLOSED and DISABLED a call enters by one read. It leaves by another one while the window is full of successes;
 *    the clock is read only if its duration or the time of its end counts.
 */
internal class CircuitBreakerCore(private val config: CircuitBreakerConfig, private val breaker: Monitored) : Gate() {
    /** Of several breakers by key the same, set before the first call. */
    override var clock: BoundClock = BoundClock(config.clock)
    private val machine = BreakerMachine(config)
    private val listeners = ChangeListeners(this)

    /** Null before the first one: most breakers have none. */
    @Volatile private var callListeners: CallListeners? = null
    private val slowNanos = config.slowCall.inWholeNanoseconds
    private val timesCalls = config.slowCall.isFinite()
    private val needsEnd = timesCalls || config.window is SlidingWindow.Time

    /** The openings as a retry that waits that long. */
    private val openings =
        RetryPolicy(
            backoff = config.openFor,
            jitter = config.jitter,
            maxDelay = config.maxOpenFor,
            random = config.random,
        )

    val state: BreakerState
        get() = machine.state

    /** Whether it is CLOSED or DISABLED. */
    override val isPassing: Boolean
        get() = machine.passing != null

    val metrics: CircuitBreakerMetrics
        get() {
            val now = clock.read()
            return decide { machine.metrics(now) }
        }

    val retryIn: Duration
        get() {
            if (isPassing) return Duration.ZERO
            val now = clock.read()
            return timeOf(decide { machine.nanosUntilEntry(now) })
        }

    fun timeOf(nanos: Long): Duration = if (nanos == FOREVER) Duration.INFINITE else nanos.nanoseconds

    /** As [decide], for a step of the machine that may change the state. */
    private inline fun <T> change(step: () -> T): T = decide {
        if (machine.state != listeners.latest) announce()
        step().also { if (machine.state != listeners.latest) announce() }
    }

    /** If it throws, because memory or stack is exhausted, the next step begins with it. */
    private fun announce() {
        requireStack()
        if (isPassing) releaseAll()
        listeners.changed(machine.state)
    }

    // ---- calls

    /** The reading at the start of a call, if its duration counts or a listener wants to know it. */
    fun start(): Long = if (timesCalls || callListeners?.orNull() != null) clock.read() else UNREAD

    /** See [BreakerMachine.enter]. */
    fun enter(start: Long): Any {
        machine.passing?.let {
            return it
        }
        val now = if (start == UNREAD) clock.read() else start
        return change { machine.enter(now) }
    }

    /** @param failure null for a value, and for a caller that has given up. */
    fun leave(call: Any, start: Long, outcome: CallOutcome, failure: Throwable?) {
        // It changes nothing, and no listener knows it.
        if (start == UNREAD && outcome == CallOutcome.SUCCESS && call === machine.flawless) return
        // A call that began before there was a listener has no start.
        val listeners = if (start == UNREAD) null else callListeners?.orNull()
        val end = if (listeners == null) UNREAD else clock.readOr(start)
        leave(call, start, COUNTED[outcome.ordinal])
        listeners?.report(CallEvent(outcome, maxOf(end - start, 0).nanoseconds, failure))
    }

    fun reportRefused(refusal: CircuitOpenException) {
        callListeners?.orNull()?.report(CallEvent(CallOutcome.REFUSED, Duration.ZERO, refusal, attempts = 0))
    }

    /** Ends a call that was not slow, or of which that is not known. */
    private fun leave(call: Any, start: Long, outcome: CountedOutcome) {
        val isProbe = call is Probe
        if (!isProbe && outcome == CountedOutcome.NOTHING) return
        val now = if (needsEnd || isProbe) clock.readOr(UNREAD) else UNREAD
        val isSlow = timesCalls && outcome == CountedOutcome.SUCCESS && now != UNREAD && now - start > slowNanos
        val sure = if (isSlow) CountedOutcome.SLOW else outcome
        if (sure == CountedOutcome.SUCCESS && call === machine.flawless) return
        record(call, sure, now)
    }

    private fun record(call: Any, outcome: CountedOutcome, now: Long) {
        val opening = change { machine.leave(call, outcome, now, null) } ?: return
        opening.nanos = nanosOf(opening)
        val end = if (now == UNREAD) clock.readOr(UNREAD) else now
        change { machine.leave(call, outcome, end, opening) }
    }

    private fun nanosOf(opening: BreakerMachine.Opening): Long =
        try {
            RetryArithmetic(openings, opening.lastNanos).backoffAfter(opening.number, openings.random)
        } catch (e: Throwable) {
            Trampoline.report(e)
            openings.maxDelay.inWholeNanoseconds
        }

    // ---- control

    fun trip() = change { machine.trip() }

    fun disable() = change { machine.disable() }

    fun reset() = change { machine.reset() }

    fun openFor(time: Duration) {
        val now = clock.read()
        change { machine.openFor(time.inWholeNanoseconds, now) }
    }

    fun onChange(listener: (BreakerState, BreakerState) -> Unit): AutoCloseable = listeners.add(listener)

    fun onCall(listener: (CallEvent) -> Unit): AutoCloseable {
        val listeners = decide { callListeners ?: CallListeners().also { callListeners = it } }
        return listeners.add(listener)
    }

    // ---- waiters

    override fun enqueue(waiter: Waiter): Int {
        noteWait(waiter)
        return change {
            requireStack()
            join(waiter)
        }
    }

    override fun label(): String = labelOf("CircuitBreaker", breaker.name)

    override fun toString(): String = breaker.toString()

    override fun verbOf(waiter: Waiter): String = "awaitClosed"

    private companion object {
        /** By the ordinal of a [CallOutcome]. */
        private val COUNTED =
            arrayOf(CountedOutcome.SUCCESS, CountedOutcome.FAILURE, CountedOutcome.NOTHING, CountedOutcome.NOTHING)
    }
}
