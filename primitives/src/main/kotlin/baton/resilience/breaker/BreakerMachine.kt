package baton.resilience.breaker

import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.DISABLED
import baton.resilience.BreakerState.FORCED_OPEN
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitBreakerMetrics

/*
 * How it works
 *
 *            a result brings a rate to its bound              the first call at the end of openFor, or later
 *   CLOSED ───────────────────────────────────────▶ OPEN ───────────────────────────────────────────────▶ HALF_OPEN
 *      ▲                                              ▲                                                    │    │
 *      │                                              └─────────── `failuresToOpen` probes have failed ────┘    │
 *      └─────────────────────── so many of `probes` have succeeded that this cannot happen any more ────────────┘
 *
 *   any ── trip ──▶ FORCED_OPEN     any ── disable ──▶ DISABLED     any ── reset ──▶ CLOSED     any ── openFor ──▶ OPEN
 *
 * Nothing else changes the state. There is no timer: the next call makes the change that is due. Transitions that do
 * nothing: trip in FORCED_OPEN, disable in DISABLED; an openFor in OPEN replaces the end of that time alone. A reset in CLOSED does not change the state, but empties the
 * window and begins a new generation.
 *
 * (1) A call is let in by one object, which it shows again at its end: the current Generation in CLOSED and DISABLED, a
 *     Probe of its own in HALF_OPEN.
 * (2) Each change of state, and each reset, begins a new generation. A result counts only if its generation is the
 *     current one, or its probe was let in since the last change. So results of calls that began before do not count,
 *     and every outcome is counted at most once. The success of a probe counts only if it still has its place.
 * (3) In HALF_OPEN at most `probes` probes have a place; the place is free again when the probe has ended or was
 *     cancelled, and at the end of probeTimeout in any case. So HALF_OPEN lets in another probe in bounded time,
 *     even if no probe ever ends.
 * (4) `passing` is the generation in CLOSED and DISABLED, else null. `flawless` is the generation while the window is
 *     full of successes that were not slow, else null: another one would change nothing. Both are read without the
 *     lock, by calls that need no decision.
 * (5) `time` is the latest of all readings. Readings arrive here in another order than they were made.
 * (6) The duration of an opening comes from code of users. So a result that opens the breaker is decided in two steps:
 *     the first one changes nothing and asks for an Opening; the second one decides anew, with that.
 *
 * The machine has no clock, no callers and no locks. Each function is one step, and takes the reading of the clock.
 */
internal class BreakerMachine(private val config: CircuitBreakerConfig) {
    private val window = CallWindow.of(config.window)
    private val probeNanos = config.probeTimeout.inWholeNanoseconds

    // The volatile fields are written under the lock of the core, and read without it. The lock guards all other
    // fields.

    @Volatile
    var state: BreakerState = CLOSED
        private set

    private var generation = Generation()

    @Volatile
    var passing: Generation? = generation
        private set

    @Volatile
    var flawless: Generation? = null
        private set

    private var time = 0L

    /** The openings in a row; zero when the breaker closes. */
    private var openings = 0

    /** The duration of the last of them in nanoseconds; -1 without one. */
    private var lastOpenNanos = -1L
    private var openUntil = 0L

    /** Null in all states but HALF_OPEN. */
    private var places: ProbePlaces? = null
    private var successes = 0
    private var failures = 0
    private var rejected = 0L

    /** The calls between two changes of state. */
    class Generation

    /** The opening number [number] in a row, after one of [lastNanos]. The caller sets [nanos]. */
    class Opening(val number: Int, val lastNanos: Long) {
        var nanos = 0L
    }

    /** Why a call was refused: in [state], for another [nanos], or [FOREVER]. */
    class Rejection(val state: BreakerState, val nanos: Long)

    private fun advance(now: Long) {
        if (now > time) time = now
    }

    /** Returns a [Generation], a [Probe] or a [Rejection]. */
    fun enter(now: Long): Any {
        advance(now)
        if (state == OPEN && time >= openUntil) change(HALF_OPEN)
        passing?.let {
            return it
        }
        places?.tryTake(time)?.let {
            return it
        }
        rejected++
        return Rejection(state, nanosUntilEntry())
    }

    /**
     * The call that was let in by [call] has ended.
     *
     * @param now [UNREAD] if the window needs no clock and [call] is no probe.
     * @return null if the end is decided. Otherwise nothing has changed: the caller sets the duration of the returned
     *   opening, and calls again with it as [opening].
     */
    fun leave(call: Any, outcome: CountedOutcome, now: Long, opening: Opening?): Opening? {
        advance(now)
        return if (call is Probe) leaveProbe(call, outcome, opening) else leaveCall(call, outcome, opening)
    }

    private fun leaveProbe(probe: Probe, outcome: CountedOutcome, opening: Opening?): Opening? {
        val places = places
        if (places == null || probe.places !== places) return null
        val fails = outcome == CountedOutcome.FAILURE
        if (fails && failures + 1 >= config.failuresToOpen) return open(opening)
        val hasPlace = places.holds(probe, time)
        if (hasPlace) places.giveBack(probe)
        // Without its place, too: a callee that hangs for longer than probeTimeout must open the breaker again.
        if (fails) failures++
        else if (hasPlace && outcome != CountedOutcome.NOTHING && ++successes > config.probes - config.failuresToOpen)
            change(CLOSED)
        return null
    }

    private fun leaveCall(call: Any, outcome: CountedOutcome, opening: Opening?): Opening? {
        if (call !== passing || outcome == CountedOutcome.NOTHING) return null
        window.advance(time)
        val opens = state == CLOSED && window.opensWith(outcome, config)
        if (opens && opening == null) return open(null)
        window.add(outcome)
        if (opens) return open(opening)
        val flawless = if (window.isSaturatedWithSuccess) generation else null
        if (flawless !== this.flawless) this.flawless = flawless
        return null
    }

    private fun open(opening: Opening?): Opening? {
        if (opening == null) return Opening(if (openings < Int.MAX_VALUE) openings + 1 else openings, lastOpenNanos)
        val number = opening.number
        val nanos = opening.nanos
        change(OPEN)
        openings = number
        lastOpenNanos = nanos
        stayOpen(nanos)
        return null
    }

    private fun stayOpen(nanos: Long) {
        val end = time + nanos
        openUntil = if (end >= 0) end else Long.MAX_VALUE
    }

    /** By hand: it is none of the openings in a row. */
    fun openFor(nanos: Long, now: Long) {
        advance(now)
        if (state != OPEN) change(OPEN)
        stayOpen(nanos)
    }

    fun trip() {
        if (state != FORCED_OPEN) change(FORCED_OPEN)
    }

    fun disable() {
        if (state != DISABLED) change(DISABLED)
    }

    fun reset() {
        change(CLOSED)
    }

    private fun change(to: BreakerState) {
        // First, because memory or stack may be exhausted: a change is made as a whole or not at all.
        val next = Generation()
        val newPlaces = if (to == HALF_OPEN) ProbePlaces(config.probes, probeNanos) else null
        val passes = to == CLOSED || to == DISABLED
        if (passes) window.clear()

        // Before the state: a thread that has seen the new state must not find the passage of the old one open.
        passing = null
        flawless = null
        places = newPlaces
        successes = 0
        failures = 0
        if (to == CLOSED) {
            openings = 0
            lastOpenNanos = -1
        }
        state = to
        generation = next
        if (passes) passing = next
    }

    fun nanosUntilEntry(now: Long): Long {
        advance(now)
        return nanosUntilEntry()
    }

    private fun nanosUntilEntry(): Long =
        if (state == OPEN) maxOf(openUntil - time, 0)
        else if (state == FORCED_OPEN) FOREVER else places?.nanosUntilFree(time) ?: 0

    fun metrics(now: Long): CircuitBreakerMetrics {
        advance(now)
        window.advance(time)
        return CircuitBreakerMetrics(window.calls, window.failureRate, window.slowRate, rejected)
    }

    internal companion object {
        /** No reading of the clock. */
        const val UNREAD = Long.MIN_VALUE
        const val FOREVER = Long.MAX_VALUE
    }
}
