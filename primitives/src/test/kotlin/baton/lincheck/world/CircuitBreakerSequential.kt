package baton.lincheck.world

import baton.resilience.CircuitBreaker
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Sequential specification of a [CircuitBreaker] that opens for one tick with a failure among the last two calls, has
 * one probe, which loses its place at the next tick, and at most one call of each thread.
 */
@Suppress("unused") // Lincheck finds the members by name.
internal class CircuitBreakerSequential {
    private class Call(val epoch: Int, val isProbe: Boolean, val at: Int)

    private var state = "CLOSED"
    private var epoch = 0
    private var time = 0
    private var openUntil = 0
    private var probe: Call? = null
    private val window = ArrayList<Boolean>()
    private val inside = arrayOfNulls<Call>(THREADS)
    private val line = ArrayList<CancellableContinuation<Unit>>()

    private fun change(to: String) {
        state = to
        epoch++
        probe = null
        if (!isPassing()) return
        window.clear()
        val released = line.toList()
        line.clear()
        released.forEach { it.resume(Unit) { _, _, _ -> } }
    }

    private fun hasProbe() = probe.let { it != null && it.at == time }

    private fun isPassing() = state == "CLOSED" || state == "DISABLED"

    fun enter(thread: Int): Boolean {
        if (inside[thread] != null) return false
        if (state == "OPEN" && time >= openUntil) change("HALF_OPEN")
        val isProbe = state == "HALF_OPEN" && !hasProbe()
        if (!isPassing() && !isProbe) return false
        val call = Call(epoch, isProbe, time)
        if (isProbe) probe = call
        inside[thread] = call
        return true
    }

    private fun leave(thread: Int, isFailure: Boolean?) {
        val call = inside[thread] ?: return
        inside[thread] = null
        if (call.epoch != epoch) return
        if (call.isProbe) {
            val isInTime = hasProbe() && probe === call
            if (isInTime) probe = null
            if (isFailure == true) open() else if (isInTime && isFailure == false) change("CLOSED")
        } else if (isFailure != null) {
            window += isFailure
            if (window.size > 2) window.removeFirst()
            if (state == "CLOSED" && window.size == 2 && true in window) open()
        }
    }

    private fun open() {
        change("OPEN")
        openUntil = time + 1
    }

    fun succeed(thread: Int) = leave(thread, false)

    fun fail(thread: Int) = leave(thread, true)

    fun cancel(thread: Int) = leave(thread, null)

    fun tick() {
        time++
    }

    fun trip() {
        if (state != "FORCED_OPEN") change("FORCED_OPEN")
    }

    fun openFor() {
        if (state != "OPEN") change("OPEN")
        openUntil = time + 1
    }

    fun disable() {
        if (state != "DISABLED") change("DISABLED")
    }

    fun reset() = change("CLOSED")

    fun state() = state

    fun calls() = window.size

    fun waiting() = line.size

    suspend fun awaitClosed() {
        if (isPassing()) return
        suspendCancellableCoroutine { caller ->
            line += caller
            caller.invokeOnCancellation { line -= caller }
        }
    }

    /** A call counts by whether it is of now, times by their distance. */
    private fun summary() =
        listOf(state, if (state == "OPEN") time >= openUntil else null, hasProbe(), window.toList(), line.size) +
            inside.map {
                it?.let { call -> if (call.epoch == epoch) call.isProbe to (hasProbe() && call === probe) else "old" }
            }

    override fun equals(other: Any?) = other is CircuitBreakerSequential && summary() == other.summary()

    override fun hashCode() = summary().hashCode()
}
