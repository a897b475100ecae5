package baton.stress

import baton.lincheck.world.cancelled
import baton.sync.Barrier
import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.BarrierTimeoutException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.microseconds
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

open class BarrierStressTest : Stress() {
    protected open val arrivals
        get() = 60_000

    protected open val rounds
        get() = 2_000

    /** How often each number was given. */
    private class Tally(parties: Int) {
        val numbers = List(parties) { AtomicLong() }
        val cancelled = AtomicInteger()
        val trips
            get() = numbers[0].get()

        fun add(number: Int) {
            numbers[number].incrementAndGet()
        }

        override fun toString() = "$numbers, $cancelled cancelled"
    }

    /** Callers that arrive, and leave again, until all arrivals are used up. More of them than parties. */
    private fun crowd(barrier: Barrier, tally: Tally, arrive: suspend () -> Int) {
        val left = AtomicInteger(arrivals)
        stress(barrier) {
            repeat(3 * barrier.parties + 1) {
                launch {
                    while (left.decrementAndGet() > 0) {
                        try {
                            tally.add(arrive())
                        } catch (_: BarrierTimeoutException) {
                            if (random.nextInt(4) == 0) yield()
                        } catch (_: BarrierBrokenException) {
                            barrier.reset()
                        }
                        watchdog.progress()
                    }
                }
            }
        }
        assertEquals(0, barrier.waiting)
        assertTrue(tally.trips > 100) { "$tally" }
    }

    private suspend fun Barrier.arriveInTime() = arrive(random.nextLong(3_000).microseconds)

    @ParameterizedTest
    @ValueSource(booleans = [false, true])
    fun arrive_underTimeoutsAndCancellation_everyTripHadAllItsParties(cancels: Boolean) {
        val barrier = Barrier(3)
        val tally = Tally(3)
        crowd(barrier, tally) {
            if (!cancels || random.nextInt(3) > 0) {
                barrier.arriveInTime()
            } else {
                withTimeoutOrNull(random.nextLong(1, 4).milliseconds) { barrier.arrive() }
                    ?: throw BarrierTimeoutException("cancelled").also { tally.cancelled.incrementAndGet() }
            }
        }
        // A party that was cancelled after the trip has been counted, and has no number.
        val missing = tally.numbers.sumOf { tally.trips - it.get() }
        assertTrue(tally.numbers.all { it.get() <= tally.trips } && missing <= tally.cancelled.get()) { "$tally" }
    }

    /** Guarded by the action's being the only one, and by nothing else. */
    private var inside = 0
    private var ran = 0L

    @Test
    fun action_underTimeoutsAndBreaks_runsAloneAndOnceForEveryTrip() {
        for (onCancel in BarrierCancellation.entries) {
            inside = 0
            ran = 0
            val barrier =
                Barrier(3, onCancel) {
                    check(inside++ == 0) { "two at a time" }
                    try {
                        if (random.nextInt(8) == 0) yield()
                    } finally {
                        inside--
                    }
                    ran++
                }
            val tally = Tally(3)
            // A reset lets the next action begin while the old one runs. The test resets only when all callers ended.
            val left = AtomicInteger(arrivals / 4)
            stress(barrier) {
                while (left.get() > 0) {
                    val callers =
                        List(10) {
                            launch {
                                try {
                                    while (left.decrementAndGet() > 0) tally.add(barrier.arriveInTime())
                                } catch (_: BarrierTimeoutException) {
                                    // Another one comes.
                                } catch (_: BarrierBrokenException) {
                                    // So do all.
                                }
                                watchdog.progress()
                            }
                        }
                    if (random.nextInt(3) == 0) callers[random.nextInt(10)].cancel()
                    callers.joinAll()
                    if (barrier.isBroken) barrier.reset()
                }
            }
            assertEquals(0, barrier.waiting)
            assertTrue(ran >= tally.trips && tally.trips > 10) { "$ran, $tally" }
        }
    }

    /** Parties in step, some of which are cancelled; the remaining parties start anew. */
    @Test
    fun reset_racingWithCancelAndArrivals_neverHangs() {
        for (onCancel in BarrierCancellation.entries) {
            val barrier = Barrier(3, onCancel)
            stress(barrier) {
                repeat(rounds) { round ->
                    val parties =
                        List(2) {
                            launch {
                                try {
                                    barrier.arrive()
                                } catch (_: BarrierBrokenException) {
                                    // It was reset, or the other was cancelled.
                                }
                            }
                        }
                    repeat(round % 4) { yield() }
                    val cancel = launch { parties[0].cancel() }
                    val reset = launch { barrier.reset() }
                    joinAll(cancel, reset)
                    parties[0].join()
                    // Only a reset reaches a party that came after the first reset.
                    while (!parties[1].isCompleted) {
                        barrier.reset()
                        yield()
                    }
                    barrier.reset()
                    check(barrier.waiting == 0 && !barrier.isBroken) { "$barrier" }
                    watchdog.progress()
                }
            }
        }
    }

    /** All parties write, meet, read what the others wrote, meet. */
    @Test
    fun arrive_inPhases_seesWhatTheOthersWrote() {
        val barrier = Barrier(4)
        val cells = IntArray(4)
        stress(barrier) {
            repeat(4) { party ->
                launch {
                    for (phase in 1..rounds) {
                        cells[party] = phase
                        barrier.arrive()
                        check(cells.all { it == phase })
                        barrier.arrive()
                        watchdog.progress()
                    }
                }
            }
        }
    }

    @Test
    fun cancel_racingWithTheLastParty_letsTheOthersGoOrWait() {
        val barrier = Barrier(3)
        stress(barrier) {
            repeat(rounds) {
                val victim = launch { barrier.arrive() }
                val other = launch { barrier.arrive() }
                while (barrier.waiting < 2) yield()
                val last = launch { barrier.arrive() }
                victim.cancel(CancellationException("race"))
                victim.join()
                while (!last.isCompleted && barrier.waiting < 2) yield()
                if (!last.isCompleted) check(barrier.arrive() == 0)
                joinAll(other, last)
                check(barrier.waiting == 0) { "$barrier" }
                watchdog.progress()
            }
        }
    }
}

class BarrierStressDeepTest : BarrierStressTest() {
    override val arrivals
        get() = 2_000_000

    override val rounds
        get() = 100_000
}
