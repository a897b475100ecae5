package baton.lincheck.resilience

import baton.asClock
import baton.lincheck.world.CircuitBreakerSequential
import baton.lincheck.world.LincheckCase
import baton.lincheck.world.Rare
import baton.lincheck.world.Scenario
import baton.lincheck.world.THREADS
import baton.lincheck.world.after
import baton.lincheck.world.threads
import baton.lincheck.world.underLincheck
import baton.resilience.Backoff
import baton.resilience.CircuitBreaker
import baton.resilience.CircuitBreakerConfig
import baton.resilience.CircuitOpenException
import baton.resilience.Jitter
import baton.resilience.SlidingWindow
import java.io.IOException
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.AbstractLongTimeSource
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.DurationUnit
import org.jetbrains.lincheck.datastructures.Operation
import org.jetbrains.lincheck.datastructures.Param
import org.jetbrains.lincheck.datastructures.ThreadIdGen

/**
 * Each thread may have one call inside; a tick of the clock ends OPEN, and takes a probe its place. Cancellation of
 * waiters included.
 */
@Param(name = "thread", gen = ThreadIdGen::class)
class CircuitBreakerLincheckTest : LincheckCase {
    override val model: Class<*>
        get() = CircuitBreakerSequential::class.java

    override val generated
        get() = 60

    private val time = AtomicLong()

    private val breaker =
        CircuitBreaker(
            CircuitBreakerConfig(
                window = SlidingWindow.Calls(2),
                minimumCalls = 2,
                openFor = Backoff.constant(1.nanoseconds),
                jitter = Jitter.None,
                probes = 1,
                probeTimeout = 1.nanoseconds,
                clock =
                    object : AbstractLongTimeSource(DurationUnit.NANOSECONDS) {
                            override fun read() = time.get()
                        }
                        .asClock(),
            )
        )
    private val inside = arrayOfNulls<Any>(THREADS)

    @Operation
    fun enter(@Param(name = "thread") thread: Int): Boolean {
        if (inside[thread] != null) return false
        return try {
            inside[thread] = breaker.enter(breaker.start())
            true
        } catch (_: CircuitOpenException) {
            false
        }
    }

    private inline fun leave(thread: Int, how: (Any) -> Unit) {
        inside[thread]?.let(how)
        inside[thread] = null
    }

    @Operation
    fun succeed(@Param(name = "thread") thread: Int) =
        leave(thread) { breaker.leave(it, breaker.start(), breaker.unjudged) }

    @Operation
    fun fail(@Param(name = "thread") thread: Int) =
        leave(thread) { breaker.leaveFailed(it, breaker.start(), IOException(), isActive = true) }

    @Operation
    fun cancel(@Param(name = "thread") thread: Int) = leave(thread) { breaker.leaveCancelled(it, breaker.start()) }

    /** Not beside [openFor], which counts from a moment that it reads before it decides. */
    @Operation(nonParallelGroup = "time")
    fun tick() {
        time.incrementAndGet()
    }

    @Operation fun trip() = breaker.trip()

    @Operation fun reset() = breaker.reset()

    @Operation(nonParallelGroup = "time") fun openFor() = breaker.openFor(1.nanoseconds)

    @Rare @Operation fun disable() = breaker.disable()

    @Operation fun state() = breaker.state.name

    @Operation fun calls() = breaker.metrics.calls

    @Operation(cancellableOnSuspension = true, promptCancellation = true)
    suspend fun awaitClosed() = underLincheck { breaker.awaitClosed() }

    @Rare @Operation fun waiting() = breaker.waiting

    override val scenarios: List<Scenario>
        get() {
            val test = this
            return listOf(
                // Two failures at once open it once; a third result is of before.
                threads(
                        {
                            actor(test::fail, 0)
                            actor(test::state)
                        },
                        {
                            actor(test::fail, 1)
                            actor(test::tick)
                            actor(test::enter, 1)
                        },
                        {
                            actor(test::succeed, 2)
                            actor(test::calls)
                        },
                    )
                    .after { for (thread in 0..2) actor(test::enter, thread) },
                // One of three is the probe, and its success lets the waiter go.
                threads(
                        {
                            actor(test::enter, 0)
                            actor(test::succeed, 0)
                        },
                        {
                            actor(test::enter, 1)
                            actor(test::cancel, 1)
                        },
                        { actor(test::awaitClosed) },
                    )
                    .after {
                        for (thread in 0..1) actor(test::enter, thread)
                        for (thread in 0..1) actor(test::fail, thread)
                        actor(test::tick)
                    },
                // The probe has lost its place to another one. Its failure opens the breaker, or comes after its
                // closing.
                threads(
                        {
                            actor(test::fail, 0)
                            actor(test::state)
                        },
                        {
                            actor(test::enter, 1)
                            actor(test::succeed, 1)
                        },
                        { actor(test::state) },
                    )
                    .after {
                        for (thread in 0..1) actor(test::enter, thread)
                        for (thread in 0..1) actor(test::fail, thread)
                        actor(test::tick)
                        actor(test::enter, 0)
                        actor(test::tick)
                    },
                // A reset lets the waiter go, a trip does not take that back.
                threads(
                        {
                            actor(test::reset)
                            actor(test::trip)
                        },
                        {
                            actor(test::awaitClosed)
                            actor(test::waiting)
                        },
                        { actor(test::disable) },
                    )
                    .after { actor(test::trip) },
            )
        }
}
