package baton.lincheck.resilience

import baton.asClock
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.LincheckClock
import baton.lincheck.world.RATE_BURST
import baton.lincheck.world.Rare
import baton.lincheck.world.RateLimiterSequential
import baton.lincheck.world.Scenario
import baton.lincheck.world.SeveralRatesSequential
import baton.lincheck.world.THREADS
import baton.lincheck.world.after
import baton.lincheck.world.cancelled
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.resilience.Rate
import baton.resilience.RateLimiter
import baton.resilience.RateReservation
import baton.resilience.per
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReferenceArray
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import org.jetbrains.lincheck.datastructures.IntGen
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/** Its clock is advanced by an operation. Threads read it in one order and decide in another. */
@Param(name = "thread", gen = ThreadIdGen::class)
@Param(name = "n", gen = IntGen::class, conf = "1:3")
abstract class RateLimiterLincheckBase(vararg otherRates: Rate) : LincheckCase {
    override val model: Class<*>
        get() = RateLimiterSequential::class.java

    override val generated
        get() = 60

    private val now = AtomicLong()

    private val time =
        object : AbstractLongTimeSource(DurationUnit.SECONDS) {
            override fun read() = now.get()
        }

    protected val limiter =
        RateLimiter.of(1 per 1.seconds, *otherRates, burst = RATE_BURST.toLong(), clock = time.asClock())
    internal val timers = LincheckClock()

    /** One tick ends before the next: two that meet would bring their tokens at once, of which more may overflow. */
    @Operation(nonParallelGroup = "ticks")
    fun tick(@Param(name = "n") n: Int) {
        now.addAndGet(n.toLong())
        limiter.availablePermits
    }

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun acquire(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        underLincheck(timers.timerOf(thread)) { limiter.acquire(n) }
    }

    @Operation fun tryAcquire(@Param(name = "n") n: Int) = limiter.tryAcquire(n)

    @Rare @Operation(runOnce = true) fun close() = limiter.close()
}

/** Waiters and the timer of the head. */
class RateLimiterLincheckTest : RateLimiterLincheckBase() {
    @Operation fun availablePermits() = limiter.availablePermits

    @Operation fun waiting() = limiter.waiting

    @Operation fun timerFires(@Param(gen = IntGen::class, conf = "1:3") thread: Int) = timers.timePasses(thread)

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A reading from before the tick is decided after it.
                threads({ actor(::tick, 2) }, { actor(::tryAcquire, 1) }, { actor(::tryAcquire, 1) }).after {
                    actor(::tryAcquire, 3)
                },
                // A token that was granted to a cancelled caller goes to the next.
                threads({ actor(::tick, 1) }, { cancelled(::acquire, 2, 1) }, { actor(::acquire, 3, 1) }).after {
                    actor(::tryAcquire, 3)
                },
                // The timer of a head meets its grant, its cancellation, and the end.
                threads(
                        {
                            actor(::tick, 2)
                            actor(::timerFires, 2)
                        },
                        { cancelled(::acquire, 2, 3) },
                        {
                            actor(::acquire, 3, 1)
                            actor(::availablePermits)
                        },
                    )
                    .after { actor(::tryAcquire, 3) },
                threads(
                        { actor(::close) },
                        { actor(::acquire, 2, 1) },
                        {
                            actor(::timerFires, 2)
                            actor(::waiting)
                        },
                    )
                    .after { actor(::tryAcquire, 3) },
            )
}

/** Waiters and reservations in one queue, and other bursts. */
class RateReservationLincheckTest : RateLimiterLincheckBase() {
    private val reservations = AtomicReferenceArray<RateReservation?>(THREADS)

    @Operation
    fun reserve(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        reservations.set(thread, limiter.reserve(n))
    }

    @Operation fun cancelReservation(@Param(name = "thread") thread: Int) = reservations.get(thread)?.cancel() ?: false

    @Rare @Operation fun update(@Param(name = "n") n: Int) = limiter.update(1 per 1.seconds, burst = n.toLong())

    override val scenarios: List<Scenario>
        get() =
            listOf(
                // A reservation meets its due time and its cancellation.
                threads(
                        { actor(::tick, 2) },
                        {
                            actor(::reserve, 2, 2)
                            actor(::cancelReservation, 2)
                        },
                        { actor(::acquire, 3, 1) },
                    )
                    .after { actor(::tryAcquire, 3) },
                // The burst becomes less than a waiter asks for, while its tokens come.
                threads({ actor(::tick, 3) }, { actor(::acquire, 2, 3) }, { actor(::update, 2) }).after {
                    actor(::tryAcquire, 3)
                },
            )
}

/** The other rates save more, are slower, and save less: each of them holds callers up at some time. */
class SeveralRatesLincheckTest : RateLimiterLincheckBase(Rate(4, 8.seconds), Rate(2, 2.seconds)) {
    override val model: Class<*>
        get() = SeveralRatesSequential::class.java

    /** An operation goes over all rates several times. */
    override val spins
        get() = 6

    private val reservations = AtomicReferenceArray<RateReservation?>(THREADS)

    @Operation
    fun reserve(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int) {
        reservations.set(thread, limiter.reserve(n))
    }

    @Operation
    fun tryReserve(@Param(name = "thread") thread: Int, @Param(name = "n") n: Int): Boolean {
        val reservation = limiter.tryReserve(n, maxWait = 3.seconds)
        if (reservation != null) reservations.set(thread, reservation)
        return reservation != null
    }

    @Operation fun cancelReservation(@Param(name = "thread") thread: Int) = reservations.get(thread)?.cancel() ?: false

    @Operation fun granted() = limiter.metrics.granted

    override val scenarios: List<Scenario>
        get() =
            listOf(
                threads(
                        { actor(::tick, 2) },
                        {
                            actor(::tryReserve, 2, 2)
                            actor(::cancelReservation, 2)
                        },
                        { cancelled(::acquire, 3, 1) },
                    )
                    .after { actor(::tryAcquire, 2) },
                threads({ actor(::tick, 3) }, { actor(::reserve, 2, 2) }, { actor(::acquire, 3, 2) }).after {
                    actor(::reserve, 1, 2)
                    actor(::reserve, 1, 1)
                },
            )
}
