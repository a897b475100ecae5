package baton.resilience.limiter

import baton.asClock
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateLimiterClosedException
import baton.resilience.RateReservation
import baton.resilience.per
import baton.resilience.withPermit
import baton.sync.CancelSweep
import baton.sync.StepDispatcher
import baton.sync.SweepRun
import baton.sync.SweptCall
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * Cancels one of two operations before every step that the two, the clock and the timers can make. All tokens that were
 * made are granted or left, and no waiter and no timer remains.
 */
class RateLimiterSweepTest {
    /** A nanosecond brings a token. Nothing overflows, for the burst is more than all the tokens of a run. */
    private class World(val isLeaky: Boolean, isOfTwoRates: Boolean) {
        val clock = TestTimeSource()
        val limiter =
            if (isLeaky) RateLimiter.leakyBucket(1 per 1.nanoseconds, clock = clock.asClock())
            else if (isOfTwoRates)
                RateLimiter.of(
                    1 per 1.nanoseconds,
                    Rate(BURST, 100.nanoseconds),
                    burst = BURST,
                    clock = clock.asClock(),
                )
            else RateLimiter.tokenBucket(1 per 1.nanoseconds, burst = BURST, clock = clock.asClock())
        val reservations = mutableListOf<RateReservation>()

        /** Beyond those that came with the bucket, which are taken at first. */
        var made = 0L

        init {
            assertTrue(limiter.tryAcquire(if (isLeaky) 1 else BURST.toInt()))
        }

        fun makeTokens(n: Int) {
            made += n
            repeat(n) {
                clock += 1.nanoseconds
                assertTrue(limiter.availablePermits >= 0)
            }
        }

        override fun toString() = limiter.toString()
    }

    private class Op(val name: String, val call: suspend (World) -> Int) {
        override fun toString() = name
    }

    private val ops =
        listOf(
            Op("acquire(1)") {
                it.limiter.acquire()
                1
            },
            Op("acquire(3)") {
                it.limiter.acquire(3)
                3
            },
            Op("tryAcquire(1)") { if (it.limiter.tryAcquire()) 1 else 0 },
            Op("tryAcquire(2, 1s)") { if (it.limiter.tryAcquire(2, 1.seconds)) 2 else 0 },
            Op("withPermit") { it.limiter.withPermit { 1 } },
            Op("acquire twice") {
                it.limiter.acquire()
                it.made--
                it.limiter.acquire(2)
                2
            },
            Op("reserve") {
                it.reservations += it.limiter.reserve(2)
                0
            },
            Op("tryReserve") { world ->
                world.limiter.tryReserve(2, 4.nanoseconds)?.let { world.reservations += it }
                0
            },
            Op("reserve, cancel") {
                val reservation = it.limiter.reserve(2)
                it.reservations += reservation
                yield()
                if (reservation.cancel()) it.reservations -= reservation
                0
            },
            Op("update") {
                it.limiter.update(1 per 1.nanoseconds, burst = BURST)
                0
            },
            Op("close") {
                it.limiter.close()
                0
            },
        )

    private class Sweep(
        ops: List<Op>,
        private val isLeaky: Boolean = false,
        private val isOfTwoRates: Boolean = false,
    ) : CancelSweep<World, Op>(ops) {
        override val start = if (isLeaky) "leaky" else if (isOfTwoRates) "two rates" else "tokens"

        override fun create(dispatcher: StepDispatcher) = World(isLeaky, isOfTwoRates)

        override suspend fun call(op: Op, world: World, caller: String) = op.call(world)

        override fun SweepRun<World>.beside() = repeat(3) { turn { world.makeTokens(1) } }

        override fun SweepRun<World>.end(first: SweptCall, second: SweptCall) {
            repeat(10) {
                world.makeTokens(1)
                drain()
            }
            for (call in listOf(first, second)) {
                assertTrue(call.isCompleted, "still waits: $call")
                call.throwUnless { it is RateLimiterClosedException }
            }
            assertEquals(0, world.limiter.waiting)
            // A leaky bucket does not save up, so its tokens are not counted.
            if (isLeaky) return assertEquals(1L, world.limiter.availablePermits)
            val reserved = world.reservations.sumOf { it.permits }
            val used = first.held + second.held + reserved
            assertEquals(world.made, used + world.limiter.availablePermits)
            // Beside those at the start; "acquire twice" counts one for none.
            assertTrue(world.limiter.metrics.granted - BURST - used in 0..2, "${world.limiter.metrics} $used")
        }
    }

    @Test
    fun limiter_cancelledAtAnyStep_losesAndInventsNoToken() {
        val runs = Sweep(ops).run() + Sweep(ops, isLeaky = true).run() + Sweep(ops, isOfTwoRates = true).run()
        assertTrue(runs > 6_000, "only $runs runs")
    }

    private companion object {
        const val BURST = 100L
    }
}
