package baton.stress

import baton.tasks.SingleFlight
import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Callers of few keys on all threads, with cancellations: a result goes to no later caller, and no run is left. */
class FlightStressTest : Stress() {
    @Test
    fun results_goToNoLaterCaller_andNoRunIsLeft() {
        val flight = SingleFlight<Int, Int>()
        val number = AtomicInteger()
        val calls = AtomicInteger()
        val running = AtomicInteger()
        val returned = List(KEYS) { AtomicInteger() }
        val faults = AtomicInteger()
        stress(flight) {
            crowd(CROWD, { calls.get() < CALLS }, 5.milliseconds) {
                    val key = random.nextInt(KEYS)
                    val returnedBefore = returned[key].get()
                    calls.incrementAndGet()
                    try {
                        val mine =
                            flight.run(key) {
                                val run = number.incrementAndGet()
                                running.incrementAndGet()
                                try {
                                    yieldUpTo(3)
                                    if (chance(1)) throw IOException()
                                    run
                                } finally {
                                    running.decrementAndGet()
                                }
                            }
                        // A result that another caller had before this one came is that of an earlier run.
                        if (mine <= returnedBefore) faults.incrementAndGet()
                        returned[key].accumulateAndGet(mine, ::maxOf)
                    } catch (_: IOException) {}
                }
                .joinAll()
            // A run that its last caller has left ends a little later.
            while (running.get() > 0) yield()
        }
        assertEquals(0, faults.get())
        assertEquals(0, flight.size)
        assertTrue(number.get() < calls.get()) { "$number runs of $calls calls: none was shared" }
    }

    private companion object {
        const val KEYS = 3
        const val CROWD = 12
        const val CALLS = 60_000
    }
}
