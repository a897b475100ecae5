package baton.resilience.breaker

import baton.resilience.BreakerState
import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.DISABLED
import baton.resilience.BreakerState.FORCED_OPEN
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.BreakerState.OPEN

/**
 * A breaker as plainly as it can be written: it keeps every call, and counts anew whenever it is asked. Times are
 * nanoseconds and do not go back; the readings from which a call's duration is taken may.
 */
internal class BreakerReference(
    private val windowCalls: Int?,
    private val windowNanos: Long?,
    private val minimumCalls: Int,
    private val failureRate: Double,
    private val slowNanos: Long?,
    private val slowRate: Double,
    private val openNanos: List<Long>,
    private val probes: Int,
    private val probeNanos: Long,
    private val failuresToOpen: Int,
) {
    enum class End {
        SUCCESS,
        FAILURE,
        CANCELLED,
    }

    class Call(val at: Long, val reading: Long, val epoch: Int, val isProbe: Boolean)

    private class Result(val at: Long, val isFailure: Boolean, val isSlow: Boolean)

    var state: BreakerState = CLOSED
        private set

    var rejected = 0L
        private set

    val changes = mutableListOf<Pair<BreakerState, BreakerState>>()
    private var epoch = 0
    private var results = mutableListOf<Result>()
    private var probesOut = mutableListOf<Call>()
    private var successes = 0
    private var probeFailures = 0
    private var openings = 0
    private var openUntil = 0L

    private fun change(to: BreakerState) {
        if (state != to) changes += state to to
        state = to
        epoch++
        probesOut.clear()
        successes = 0
        probeFailures = 0
        if (to == CLOSED) openings = 0
        if (to == CLOSED || to == DISABLED) results.clear()
    }

    private fun lost(now: Long) = probesOut.removeIf { now >= it.at + probeNanos }

    /** Null if it is refused. */
    fun enter(now: Long, reading: Long): Call? {
        if (state == OPEN && now >= openUntil) change(HALF_OPEN)
        if (state == CLOSED || state == DISABLED) return Call(now, reading, epoch, isProbe = false)
        if (state == HALF_OPEN) {
            lost(now)
            if (probesOut.size < probes) return Call(now, reading, epoch, isProbe = true).also { probesOut += it }
        }
        rejected++
        return null
    }

    fun leave(call: Call, end: End, now: Long, reading: Long) {
        if (call.epoch != epoch) return
        if (call.isProbe) {
            lost(now)
            val isInTime = probesOut.remove(call)
            if (end == End.FAILURE && ++probeFailures == failuresToOpen) open(now)
            // So many successes that failuresToOpen of as many results as there are probes cannot come any more.
            if (isInTime && end == End.SUCCESS && probes - ++successes < failuresToOpen) change(CLOSED)
        } else if (end != End.CANCELLED) {
            val isSlow = end == End.SUCCESS && slowNanos != null && reading - call.reading > slowNanos
            results += Result(now, end == End.FAILURE, isSlow)
            val seen = seen(now)
            val isTooMuch = rate(seen) { it.isFailure } >= failureRate || rate(seen) { it.isSlow } >= slowRate
            if (state == CLOSED && seen.size >= minimumCalls && isTooMuch) open(now)
        }
    }

    private fun open(now: Long) {
        val nanos = openNanos[minOf(openings, openNanos.lastIndex)]
        val before = openings
        change(OPEN)
        openings = before + 1
        openUntil = now + nanos
    }

    private fun seen(now: Long): List<Result> {
        if (windowCalls != null) results = results.takeLast(windowCalls).toMutableList()
        if (windowNanos != null) {
            val tenth = windowNanos / TENTHS
            results.removeIf { now / tenth - it.at / tenth >= TENTHS }
        }
        return results
    }

    private inline fun rate(seen: List<Result>, counts: (Result) -> Boolean) =
        if (seen.isEmpty()) 0.0 else seen.count(counts).toDouble() / seen.size

    fun trip() {
        if (state != FORCED_OPEN) change(FORCED_OPEN)
    }

    fun disable() {
        if (state != DISABLED) change(DISABLED)
    }

    fun reset() = change(CLOSED)

    fun openFor(now: Long, nanos: Long) {
        if (state != OPEN) change(OPEN)
        openUntil = now + nanos
    }

    /** Calls, failure rate and slow rate. */
    fun metrics(now: Long) =
        seen(now).let { seen -> Triple(seen.size, rate(seen) { it.isFailure }, rate(seen) { it.isSlow }) }

    /** Null for ever. */
    fun retryIn(now: Long): Long? =
        when (state) {
            CLOSED,
            DISABLED -> 0
            OPEN -> maxOf(0, openUntil - now)
            HALF_OPEN -> {
                lost(now)
                if (probesOut.size < probes) 0 else probesOut.minOf { it.at } + probeNanos - now
            }
            FORCED_OPEN -> null
        }

    private companion object {
        const val TENTHS = 10
    }
}
