package baton.resilience.attempts

import baton.monitoring.CallEvent
import baton.monitoring.CallOutcome
import baton.waiting.clock.BoundClock
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.nanoseconds

/** The numbers of one call for the listeners of a pipeline. The attempts of a hedge count at the same time. */
internal class CallTrace(private val clock: BoundClock) {
    private val passages = AtomicInteger()
    private val attempts = AtomicInteger()
    private val waited = AtomicLong()

    fun now(): Long = clock.readOr(0)

    /** An attempt of the retry begins. */
    fun entered() {
        passages.incrementAndGet()
    }

    /** The block begins. */
    fun begun() {
        attempts.incrementAndGet()
    }

    /** An attempt has waited since [start]. */
    fun waitedSince(start: Long) {
        waited.addAndGet(maxOf(now() - start, 0))
    }

    fun event(outcome: CallOutcome, failure: Throwable?): CallEvent {
        val duration = maxOf(now(), 0).nanoseconds
        val retries = maxOf(passages.get() - 1, 0) // A call that is interrupted at once has no passage.
        return CallEvent(outcome, duration, failure, attempts.get(), retries, waited.get().nanoseconds)
    }
}

/** The way of one attempt of the retry through the layers below: it waits, and then the first block begins. */
internal class Passage(val trace: CallTrace?) {
    /** When the time of the callee began, as the breaker reads it. */
    @Volatile var start = 0L

    private val entered = trace?.now() ?: 0
    private val hasWaited = trace?.let { AtomicBoolean() }

    init {
        trace?.entered()
    }

    fun begun() {
        endWait()
        trace?.begun()
    }

    /** The passage has ended, perhaps while it waited. */
    fun endWait() {
        if (hasWaited?.compareAndSet(false, true) == true) trace?.waitedSince(entered)
    }
}
