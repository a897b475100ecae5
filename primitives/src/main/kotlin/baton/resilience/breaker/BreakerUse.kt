package baton.resilience.breaker

/** Receives every use of a `CircuitBreaker`: each begin has its end. */
internal interface BreakerUse {
    fun begin()

    fun end()
}
