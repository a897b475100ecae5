package baton

import kotlin.time.Duration

/**
 * Admits calls, or refuses them: a rate limiter, a semaphore, a lock over a network. A
 * [baton.resilience.ResiliencePipeline] takes its layers by this interface; a type of an application may implement it.
 * In Java that is an `AsyncCallGuard` of baton-java-interop, because a `CallGuard` suspends.
 *
 * ```
 * class Quota(private val account: Account) : CallGuard {
 *     override suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T {
 *         if (!account.spend(maxWait)) throw PermitTimeoutException("no quota of $account within $maxWait")
 *         return block()
 *     }
 * }
 * ```
 */
public interface CallGuard {
    /**
     * Runs [block] once it is admitted, gives back what it holds for it however the block ends, and returns its value.
     * It waits [maxWait] at most; with zero or less the block is admitted now or not at all.
     *
     * *Cancellation.* Throws, and holds nothing.
     *
     * @throws PermitTimeoutException if the block is not admitted in time. This and every other refusal to admit the
     *   block is a [Refusal], and then the block has not run.
     */
    public suspend fun <T> guarded(maxWait: Duration, block: suspend () -> T): T
}
