package baton.sync.condition

import baton.sync.CancelSweepTest
import baton.sync.Mutex
import baton.sync.StepDispatcher
import baton.sync.withLock
import kotlin.coroutines.cancellation.CancellationException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * As [CancelSweepTest], for the condition: one of two operations is cancelled before every single step. A caller that
 * throws must hold the mutex, which it unlocks as the owner it was. No signal may be lost or doubled: the callers
 * queued behind the two get the signals that the two leave.
 */
class ConditionSweepTest {
    private class Shared {
        val mutex = Mutex()
        val condition = mutex.newCondition()
        var returned = 0

        suspend fun await() {
            condition.await()
            returned++
        }

        suspend fun await(seconds: Int) {
            if (condition.await(seconds.seconds)) returned++
        }
    }

    private class Op(val name: String, val signals: Boolean = false, val inside: suspend Shared.() -> Unit) {
        suspend fun call(shared: Shared) = shared.mutex.withLock(Any()) { shared.inside() }

        override fun toString() = name
    }

    private val await = Op("await") { await() }
    private val signal = Op("signal", signals = true) { condition.signal() }

    private val ops =
        listOf(
            await,
            signal,
            Op("await(1s)") { await(1) },
            Op("await(0)") { await(0) },
            Op("await twice") { repeat(2) { await() } },
            Op("await, limited from outside") { withTimeoutOrNull(1.seconds) { await() } },
            Op("signal slowly", signals = true) {
                yield()
                condition.signal()
                yield()
            },
            Op("signalAll", signals = true) {
                yield()
                condition.signalAll()
            },
            Op("signal, await", signals = true) {
                condition.signal()
                await()
            },
            Op("nothing") { yield() },
        )

    private class Run(val cancelAt: Int, val fireAt: Int, val lazily: Boolean) {
        val shared = Shared()
        val dispatcher = StepDispatcher()
        val calls = mutableListOf<Deferred<Unit>>()
        var turns = 0
        lateinit var victim: Deferred<Unit>

        fun start(op: Op): Deferred<Unit> = GlobalScope.async(dispatcher) { op.call(shared) }.also { calls += it }

        fun turn(action: () -> Unit) {
            beginTurn()
            action()
            if (!lazily) drain()
        }

        fun drain() {
            do beginTurn() while (dispatcher.step())
        }

        private fun beginTurn() {
            val turn = turns++
            if (turn == fireAt) dispatcher.fireTimers()
            if (turn == cancelAt) victim.cancel()
        }
    }

    private fun Run.play(first: Op, second: Op, victimIsFirst: Boolean, signals: Int) {
        val a = start(first)
        if (!lazily) dispatcher.step()
        val b = start(second)
        victim = if (victimIsFirst) a else b
        repeat(3) { start(await) }
        if (!lazily) drain()
        repeat(signals) { turn { start(ops[6]) } }
        drain()
        turn { dispatcher.fireTimers() }
        drain()
        if (!first.signals && !second.signals) assertEquals(signals, shared.returned)
        repeat(3) {
            turn { start(ops[7]) }
            drain()
        }
        for (call in calls) {
            val e = runCatching { call.getCompleted() }.exceptionOrNull()
            if (e != null && (e !is CancellationException || call !== victim)) throw e
        }
        assertEquals("Condition (waiting = 0) of Mutex (free)", shared.condition.toString())
        assertTrue(!dispatcher.hasTimers, "a timer is left")
    }

    @Test
    fun condition_cancelledAtAnyStep_isAsIfNeverCalled() {
        var runs = 0
        for (first in ops) {
            for (second in ops) {
                for (lazily in listOf(true, false)) {
                    runs += sweep(first, second, victimIsFirst = true, lazily)
                    runs += sweep(first, second, victimIsFirst = false, lazily)
                }
            }
        }
        assertTrue(runs > 20_000, "only $runs runs")
    }

    private fun sweep(first: Op, second: Op, victimIsFirst: Boolean, lazily: Boolean): Int {
        var runs = 0
        val timed = listOf(first, second).any { "1s" in it.name || "limited" in it.name }
        for ((turn, fireAt) in (if (timed) listOf(-1, -1, 4, 8, 12, 16) else listOf(-1, -1)).withIndex()) {
            val signals = 1 + turn % 2
            var cancelAt = 0
            do {
                val run = Run(cancelAt, fireAt, lazily)
                try {
                    run.play(first, second, victimIsFirst, signals)
                } catch (e: Throwable) {
                    val how = "$signals signals, victim first: $victimIsFirst, lazily: $lazily, timers at $fireAt"
                    throw AssertionError("$first, $second, $how, cancelled at $cancelAt: ${run.shared.condition}", e)
                }
                runs++
                cancelAt++
            } while (run.turns >= cancelAt)
        }
        return runs
    }
}
