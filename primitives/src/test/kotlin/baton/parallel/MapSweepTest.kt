package baton.parallel

import baton.parallel.contract.FlowFace
import baton.parallel.contract.IterableFace
import baton.parallel.contract.MapFace
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import java.io.IOException
import kotlinx.coroutines.delay
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** A call is cancelled before every step of its own and of another call: started elements have ended when it ends. */
class MapSweepTest {
    private class World {
        var started = 0
        var ended = 0
    }

    private class Op(private val name: String, val call: suspend World.(suspend (Int) -> Int) -> List<*>) {
        override fun toString() = name
    }

    private object Sweep : CancelSweep<World, Op>(ops("list", IterableFace) + ops("flow", FlowFace)) {
        override val start
            get() = "5 elements"

        override fun create(dispatcher: StepDispatcher) = World()

        override suspend fun call(op: Op, world: World, caller: String): Int {
            var running = 0
            try {
                op.call(world) { element ->
                    world.started++
                    running++
                    try {
                        if (element % 2 == 0) yield() else delay(1)
                        if (element == 3) yield()
                        element
                    } finally {
                        running--
                        world.ended++
                    }
                }
            } finally {
                assertEquals(0, running)
            }
            return 0
        }

        override fun SweepRun<World>.beside() = repeat(3) { fireTimers() }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            repeat(10) {
                fireTimers()
                drain()
            }
            assertEquals(world.started, world.ended)
            for (call in listOf(first, second)) {
                assertTrue(call.isCompleted) { "has not ended" }
                call.throwUnless { it is IOException }
            }
        }
    }

    @Test
    fun maps_cancelledAtAnyStep_leaveNothingBehind() {
        val runs = Sweep.run()
        assertTrue(runs > 5_000) { "only $runs runs" }
    }

    private companion object {
        fun ops(name: String, face: MapFace): List<Op> =
            listOf(
                Op("map of $name") { face.mapLimit(elements, 2) { i -> it(i) } },
                Op("unordered map of $name") { face.mapLimit(elements, 2, ordered = false) { i -> it(i) } },
                Op("weighted map of $name") { face.mapLimit(elements, 2, weight = { i -> 1 + i % 2 }) { i -> it(i) } },
                Op("failing map of $name") {
                    face.mapLimit(elements, 2, cancelRunning = true) { i -> if (it(i) == 3) throw IOException("3") }
                },
                Op("settled map of $name") {
                    face.mapSettled(elements, 2, maxFailures = 1) { i -> if (it(i) == 3) throw IOException("3") }
                },
            )

        val elements = (0..4).asSequence()
    }
}
