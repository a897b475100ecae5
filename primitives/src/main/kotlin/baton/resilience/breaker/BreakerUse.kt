package baton.resilience.breaker

import baton.waiting.clock.BoundClock
import baton.waiting.clock.ClockOwner

/** Receives every use of a `CircuitBreaker`: each begin has its end. It owns the [clock] of the breaker. */
internal interface BreakerUse : ClockOwner {
    val clock: BoundClock

    fun begin()

    fun end()
}
