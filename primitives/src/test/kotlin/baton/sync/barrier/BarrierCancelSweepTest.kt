package baton.sync.barrier

import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.BarrierCancellation.RETRACT
import baton.sync.BarrierTimeoutException
import baton.sync.StepDispatcher
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two operations before every single step that the two, and earlier waiters, can make. Afterwards the
 * barrier has as many waiters as wait, trips when the missing ones have come, and is broken only if something may break
 * it.
 */
class BarrierCancelSweepTest {
    /** [call] returns the number of its last arrival, or null. */
    private class Op(val name: String, val mayBreak: Boolean = false, val call: suspend (Barrier) -> Int?) {
        override fun toString() = name
    }

    private val ops =
        listOf(
            Op("arrive") { it.arrive() },
            Op("arrive(1s)") { it.arrive(1.seconds) },
            Op("arrive(0)") { it.arrive(0.seconds) },
            Op("arrive within a timeout") { withTimeoutOrNull(1.seconds) { it.arrive() } },
            Op("arrive twice") {
                it.arrive()
                it.arrive()
            },
            Op("arrive(1s), arrive") {
                it.arrive(1.seconds)
                it.arrive()
            },
            Op("reset", mayBreak = true) {
                it.reset()
                null
            },
            Op("reset, arrive", mayBreak = true) {
                it.reset()
                it.arrive()
            },
            Op("abort", mayBreak = true) {
                it.abort()
                null
            },
        )

    private inner class Run(val barrier: Barrier, val cancelAt: Int, val lazily: Boolean) {
        val dispatcher = StepDispatcher()
        val calls = mutableListOf<Deferred<Int?>>()
        var victim: Deferred<Int?>? = null
        var turn = 0

        fun start(call: suspend (Barrier) -> Int?): Deferred<Int?> =
            GlobalScope.async(dispatcher) { call(barrier) }.also { calls += it }

        fun turn(action: () -> Boolean) = run {
            if (turn++ == cancelAt) victim?.cancel()
            action()
        }

        fun drain() {
            while (turn(dispatcher::step)) continue
        }

        fun play(first: Op, second: Op, victimIsFirst: Boolean, present: Int) {
            repeat(present) { start { it.arrive() } }
            while (dispatcher.step()) continue
            val a = start(first.call)
            if (!lazily) while (dispatcher.step()) continue
            val b = start(second.call)
            victim = if (victimIsFirst) a else b
            drain()
            turn { dispatcher.fireTimers().let { true } }
            drain()
            check(mayBreak = first.mayBreak || second.mayBreak)
        }

        private fun check(mayBreak: Boolean) {
            val open = calls.filter { !it.isCompleted }
            assertEquals(open.size, barrier.waiting)
            assertFalse(dispatcher.hasTimers)
            val failures = (calls - open.toSet()).mapNotNull { it.getCompletionExceptionOrNull() }
            for (e in failures) {
                when (e) {
                    is CancellationException,
                    is BarrierTimeoutException,
                    is BarrierBrokenException -> {}
                    else -> throw e
                }
            }
            assertTrue(failures.count { it is CancellationException } <= 1)
            if (barrier.onCancel == RETRACT && !hasAction && !mayBreak) {
                assertFalse(barrier.isBroken)
                assertFalse(failures.any { it is BarrierBrokenException })
            }
            if (barrier.isBroken) {
                assertEquals(0, open.size)
                barrier.reset()
            }
            val late = List(PARTIES - open.size) { start { it.arrive() } }
            while (dispatcher.step()) continue
            // One of them may have to arrive a second time.
            val last = (open + late).filter { it.isCompleted }.map { it.getCompleted() }
            val twice = (open + late).filter { !it.isCompleted }
            assertEquals(twice.size, barrier.waiting)
            assertEquals(last.size, last.toSet().size)
            assertTrue(last.size + twice.size == PARTIES && twice.size <= 2)
            repeat((PARTIES - twice.size) % PARTIES) { start { it.arrive() } }
            while (dispatcher.step()) continue
            assertTrue(calls.all { it.isCompleted })
            assertEquals(0, barrier.waiting)
        }
    }

    private var hasAction = false

    private fun sweep(onCancel: BarrierCancellation, action: (suspend () -> Unit)?) {
        hasAction = action != null
        var runs = 0
        for (first in ops) {
            for (second in ops) {
                for (variant in 0..<4 * PARTIES) {
                    val victimIsFirst = variant % 2 == 0
                    val lazily = variant / 2 % 2 == 0
                    val present = variant / 4
                    var cancelAt = 0
                    do {
                        val run = Run(Barrier(PARTIES, onCancel, action = action), cancelAt, lazily)
                        try {
                            run.play(first, second, victimIsFirst, present)
                        } catch (e: Throwable) {
                            val how = "$present there, victim first: $victimIsFirst, lazily: $lazily"
                            throw AssertionError("$first, $second, $how, cancelled at $cancelAt: ${run.barrier}", e)
                        }
                        runs++
                        cancelAt++
                    } while (run.turn >= cancelAt)
                }
            }
        }
        assertTrue(runs > 4_000, "only $runs runs")
    }

    @Test
    fun barrier_cancelledAtAnyStep_staysConsistent() {
        for (onCancel in BarrierCancellation.entries) sweep(onCancel, action = null)
    }

    @Test
    fun barrierWithAction_cancelledAtAnyStep_staysConsistent() {
        for (onCancel in BarrierCancellation.entries) {
            sweep(onCancel) {
                yield()
                yield()
            }
        }
    }

    private companion object {
        private const val PARTIES = 3
    }
}
