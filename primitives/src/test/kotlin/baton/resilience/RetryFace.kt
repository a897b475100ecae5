package baton.resilience

import kotlin.time.Duration
import kotlinx.coroutines.runBlocking

/** A retry as the contract sees it, over any of the APIs. */
interface RetryFace {
    /** Runs [block], which gets the number of the attempt, and throws its failure unwrapped. */
    fun <T> call(
        policy: RetryPolicy,
        retryResult: ((T) -> Boolean)?,
        resultRetryAfter: ((T) -> Duration?)?,
        block: (Int) -> T,
    ): T
}

object KotlinRetryFace : RetryFace {
    override fun <T> call(
        policy: RetryPolicy,
        retryResult: ((T) -> Boolean)?,
        resultRetryAfter: ((T) -> Duration?)?,
        block: (Int) -> T,
    ): T = runBlocking { retry(policy, retryResult, resultRetryAfter) { block(it.number) } }
}

class KotlinRetryTest : RetryContract(KotlinRetryFace)
