package baton.scheduler.schedule

import baton.BatonClock
import baton.scheduler.Schedule
import baton.scheduler.ScheduleConfig
import baton.scheduler.Trigger
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import java.time.Instant
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two calls before every single step of the two calls and of the schedule. Afterwards, once it has
 * ended, nothing runs, everything is written, and the store was closed once.
 */
class ScheduleSweepTest {
    private class World(dispatcher: StepDispatcher) {
        private var time = Instant.EPOCH
        private val store = FaultyStore()
        private val gate = CompletableDeferred<Unit>()
        private var inside = 0
        private var begun = 0
        var hasRun = false
        val schedule: Schedule<String> =
            Schedule(store, 1, "sweep", ScheduleConfig(clock = BatonClock.of { time })) {
                begun++
                inside++
                try {
                    gate.await()
                    yield()
                } finally {
                    withContext(NonCancellable) { yield() }
                    inside--
                }
            }

        init {
            schedule.put("a", Trigger.at(Instant.ofEpochSecond(-1)))
            schedule.put("b", Trigger.every(1.minutes))
            schedule.triggerNow("b")
        }

        suspend fun run() {
            hasRun = true
            schedule.run()
        }

        suspend fun flush() {
            schedule.flush()
            yield()
        }

        fun openGate() {
            gate.complete(Unit)
            time = time.plusSeconds(60)
        }

        suspend fun check() {
            assertEquals(0, inside)
            assertEquals(0, schedule.metrics.running)
            assertEquals(begun.toLong(), schedule.metrics.fired)
            assertEquals(1, store.closed)
            assertEquals(0, schedule.metrics.dirty)
            val stored = store.inside.load(0).map { it.key }.toSet()
            assertTrue("b" in stored && stored.size == schedule.size) { "$stored, $schedule" }
        }

        override fun toString() = "$schedule, ${schedule.metrics}"
    }

    private class Op(val name: String, val call: suspend World.() -> Unit) {
        override fun toString() = name
    }

    private val ops =
        listOf(
            Op("run") { run() },
            Op("shutdown") { schedule.shutdown() },
            Op("flush") { flush() },
            Op("resync") { schedule.resync() },
            Op("edits") {
                schedule.put("c", Trigger.at(Instant.EPOCH))
                yield()
                schedule.remove("c")
            },
        )

    private inner class ScheduleSweep : CancelSweep<World, Op>(ops) {
        override val start = "two entries that are due"

        override fun create(dispatcher: StepDispatcher) = World(dispatcher)

        override suspend fun call(op: Op, world: World, caller: String): Int {
            op.call(world)
            return 0
        }

        override fun SweepRun<World>.beside() = turn { world.openGate() }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            val end =
                start(baton.Priority.NORMAL) {
                    it.schedule.shutdown()
                    0
                }
            var rounds = 0
            while (!(end.isCompleted && first.isCompleted && second.isCompleted) && rounds++ < 50) {
                drain()
                fireTimers()
            }
            for (call in listOf(first, second, end)) {
                assertTrue(call.isCompleted, "a call waits for ever")
                call.throwUnless { it is IllegalStateException }
            }
            val check =
                start(baton.Priority.NORMAL) {
                    it.check()
                    0
                }
            drain()
            check.throwUnless { false }
            assertTrue(check.isCompleted)
        }
    }

    @Test
    fun run_cancelledAtAnyStep_losesNothing() {
        val runs = ScheduleSweep().run()
        assertTrue(runs > 1_000, "only $runs runs")
    }
}
