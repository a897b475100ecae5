package baton.resilience.breaker

import baton.resilience.BreakerState.CLOSED
import baton.resilience.BreakerState.HALF_OPEN
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitOpenException
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import java.io.IOException
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A call is cancelled before every step of its own and of another call's: no place of a probe is lost, no waiter stays.
 */
class BreakerSweepTest {
    private class World {
        val clock = TestTimeSource()
        val breaker = CircuitBreaker(config(clock, probes = 2))
        var inside = 0

        init {
            runBlocking { breaker.failUntilOpen() }
            clock += 10.seconds
        }

        suspend fun probe(block: suspend () -> Unit) {
            breaker.protect {
                assertTrue(++inside <= 2) { "$inside probes" }
                try {
                    block()
                } finally {
                    inside--
                }
            }
        }
    }

    private class Op(private val name: String, val call: suspend World.() -> Unit) {
        override fun toString() = name
    }

    private object Sweep : CancelSweep<World, Op>(OPS) {
        override val start
            get() = "open, at the end of its time"

        override fun create(dispatcher: StepDispatcher) = World()

        override suspend fun call(op: Op, world: World, caller: String): Int = 0.also { op.call(world) }

        override fun SweepRun<World>.beside() = fireTimers()

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            val breaker = world.breaker
            repeat(4) {
                fireTimers()
                drain()
            }
            turn { breaker.reset() }
            drain()
            for (call in listOf(first, second)) {
                assertTrue(call.isCompleted) { "has not ended" }
                call.throwUnless { it is IOException || it is CircuitOpenException }
            }
            assertEquals(listOf(0, 0), listOf(breaker.waiting, world.inside))
            assertEquals(CLOSED, breaker.state)
        }
    }

    /** As [Sweep], but the breaker is not reset: its own probes close it. */
    private object PlacesSweep : CancelSweep<World, Op>(OPS.take(3)) {
        override val start
            get() = "open, at the end of its time"

        override fun create(dispatcher: StepDispatcher) = World()

        override suspend fun call(op: Op, world: World, caller: String): Int = 0.also { op.call(world) }

        override fun SweepRun<World>.beside() = fireTimers()

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            repeat(4) {
                fireTimers()
                drain()
            }
            assertTrue(first.isCompleted && second.isCompleted)
            val breaker = world.breaker
            if (breaker.state != HALF_OPEN) return
            val places = List(2) { breaker.enter(breaker.start()) }
            for (place in places) breaker.leave(place, breaker.start())
            assertEquals(CLOSED, breaker.state)
        }
    }

    @Test
    fun calls_cancelledAtAnyStep_leaveNothingBehind() {
        val runs = Sweep.run() + PlacesSweep.run()
        assertTrue(runs > 500) { "only $runs runs" }
    }

    private companion object {
        val OPS =
            listOf(
                Op("probe") { probe { yield() } },
                Op("probe that waits") { probe { delay(1) } },
                Op("probe after clean-up") {
                    probe {
                        try {
                            delay(1)
                        } finally {
                            yield()
                        }
                    }
                },
                Op("failing probe") {
                    probe {
                        yield()
                        throw IOException()
                    }
                },
                Op("awaitClosed") { breaker.awaitClosed() },
                Op("timed awaitClosed") { breaker.awaitClosed(1.milliseconds) },
            )
    }
}
