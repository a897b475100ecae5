package baton.resilience.breaker

import baton.resilience.CircuitBreaker
import kotlin.time.Duration
import kotlinx.coroutines.runBlocking

/** A breaker as the contract sees it, over any of the APIs. */
interface BreakerFace {
    /** Runs [block] in the breaker and throws its failure unwrapped. */
    fun <T> protect(breaker: CircuitBreaker, block: () -> T): T

    /** Whether it was closed in time. */
    fun awaitClosed(breaker: CircuitBreaker, timeout: Duration): Boolean
}

object KotlinBreakerFace : BreakerFace {
    override fun <T> protect(breaker: CircuitBreaker, block: () -> T): T = runBlocking { breaker.protect { block() } }

    override fun awaitClosed(breaker: CircuitBreaker, timeout: Duration) = runBlocking { breaker.awaitClosed(timeout) }
}

class KotlinBreakerTest : BreakerContract(KotlinBreakerFace)
