package baton.tasks.flight

import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import baton.tasks.SingleFlight
import baton.tasks.suspendingLazy
import java.io.IOException
import kotlinx.coroutines.delay
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * One of two callers is cancelled before every step of the two and of their run: the other gets its result, and in the
 * end no load runs and no key is in use.
 */
class FlightSweepTest {
    private class World {
        val flight = SingleFlight<String, Int>()
        var running = 0
        var mostOfA = 0
        var loads = 0

        suspend fun load(yields: Int): Int {
            running++
            loads++
            mostOfA = maxOf(mostOfA, running)
            try {
                repeat(yields) { yield() }
                return 1
            } finally {
                running--
            }
        }

        val config = suspendingLazy { load(2) }
    }

    private class Op(private val name: String, val call: suspend World.() -> Int) {
        override fun toString() = name
    }

    private object Sweep :
        CancelSweep<World, Op>(
            listOf(
                Op("run of a load that yields") { flight.run("a") { load(2) } },
                Op("run of a load that delays") { flight.run("a") { load(0).also { delay(1) } } },
                Op("run of a load that is there") { flight.run("a") { load(0) } },
                Op("run of a load that fails") { flight.run("a") { load(1).also { throw IOException() } } },
                Op("run of another key") { flight.run("b") { load(1) } },
                Op("forget, run") {
                    flight.forget("a")
                    flight.run("a") { load(1) }
                },
                Op("run inside run") { flight.run("c") { flight.run("a") { load(1) } } },
                Op("lazy") { config.get() },
            )
        ) {
        override val start
            get() = "nothing runs"

        override fun create(dispatcher: StepDispatcher) = World()

        override suspend fun call(op: Op, world: World, caller: String): Int = op.call(world)

        override fun SweepRun<World>.beside() = repeat(2) { fireTimers() }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            repeat(3) {
                fireTimers()
                drain()
            }
            for (call in listOf(first, second)) {
                assertTrue(call.isCompleted) { "has not ended" }
                call.throwUnless { it is IOException }
                if (call !== victim && call.failure == null) assertEquals(1, call.held)
                if (call !== victim) assertTrue(call.failure.let { it == null || it is IOException }) { "$call" }
            }
            assertEquals(0, world.running)
            assertEquals(0, world.flight.size)
            assertTrue(world.loads in 1..3) { "${world.loads} loads" }
        }
    }

    @Test
    fun flights_cancelledAtAnyStep_areAsIfNeverJoined() {
        val runs = Sweep.run()
        assertTrue(runs > 1_000) { "only $runs runs" }
    }
}
