package baton.test

import baton.BatonClock
import baton.distributed.CoordinationStore
import baton.distributed.InMemoryStore
import baton.test.simulation.Record
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds

/**
 * Runs nodes that share locks through a store while machines, network and store fail, in virtual time, on the calling
 * thread, once for each of [seeds]. Fails for the first seed in which the body fails.
 *
 * ```
 * @Test
 * fun paidOnce() = simulate(seeds = 10_000) {
 *     val bank = Bank()
 *     repeat(3) { node { PayoutJob(cluster, bank).run() } }
 *     faults { stop(15.seconds); loseAnswers(); emptyStore() }
 *     always { bank.payouts("inv-7") <= 1 }
 * }
 * ```
 *
 * *World.* The body runs once for each seed, before the time begins. It makes the objects that the nodes share, and
 * adds the nodes, their faults and what must always be true. The blocks of the nodes run after it, in virtual time;
 * each is on a machine of its own, with a `Cluster` of its own. A seed ends when all blocks have ended.
 *
 * *Seed.* It alone decides the order of steps that are due at one time, how long each call to the store takes, and
 * which faults happen when. So a seed repeats exactly, unless the body depends on real time, on random numbers other
 * than [SimulationScope.random], or on hash codes of identity; then the error says so.
 *
 * *Failure.* A seed fails if a check is false or throws, if the block of a node throws, if a node has not ended in
 * [duration], if steps go on without end at one time, or if a listener or a background loop reports an error. It does
 * not fail if a block ends by `LeaseLostException`, `StoreUnavailableException` or `OutcomeUnknownException`: the
 * faults cause them. The error has the last events of the seed: who was granted what, and which faults happened. The
 * system property `simulation.seed` and the argument [seed] repeat a seed alone.
 *
 * *Limits.* All code of the nodes must run on the dispatcher of its node, which the coroutines of its block inherit. A
 * coroutine that another thread resumes fails the simulation; a block that blocks its thread blocks it.
 *
 * @param seeds how many seeds to try, from 0 on; at least 1.
 * @param seed runs this one alone; null for all.
 * @param lease of the clusters, at least 100 ms.
 * @param duration how much virtual time a seed may take. Faults happen in the first half of it.
 * @param store makes the store of each seed, in which there is nothing. Its calls must end at once.
 * @throws AssertionError for the first seed that fails, with the failure as its cause.
 * @throws IllegalArgumentException if [seeds] is below 1, or [duration] not above zero.
 * @throws InterruptedException if the thread is interrupted, say by a time limit of the test; asked before each seed.
 */
public fun simulate(
    seeds: Int = 1_000,
    seed: Long? = null,
    lease: Duration = 10.seconds,
    duration: Duration = 10.minutes,
    store: (BatonClock) -> CoordinationStore = { InMemoryStore(it) },
    body: SimulationScope.() -> Unit,
) {
    require(seeds >= 1) { "seeds = $seeds, must be at least 1" }
    require(duration > Duration.ZERO && duration.isFinite()) { "duration = $duration, must be above 0, and finite" }
    val only = seed ?: java.lang.Long.getLong(SEED_PROPERTY)
    for (current in if (only == null) 0L until seeds else only..only) {
        if (Thread.interrupted()) throw InterruptedException("interrupted before seed $current")
        fun run(isRecorded: Boolean) = SimulationRun(current, lease, duration, store, isRecorded)
        val failure = run(isRecorded = false).run(body) ?: continue
        val again = run(isRecorded = true)
        throw errorOf(current, failure, again.run(body), again.record)
    }
}

private fun errorOf(
    seed: Long,
    failure: SimulationFailure,
    repeated: SimulationFailure?,
    record: Record,
): AssertionError {
    val head = "simulate: seed $seed fails after ${Record.timeOf(failure.nanos)}: ${failure.text}"
    val text =
        if (repeated == null || repeated.nanos != failure.nanos || repeated.text != failure.text) {
            val other = repeated?.let { "fails after ${Record.timeOf(it.nanos)}: ${it.text}" } ?: "passes"
            "$head\nIt does not repeat: the same seed, once more, $other. The body depends on something other than the " +
                "seed: real time, other random numbers, hash codes of identity, or objects that outlive a seed"
        } else {
            "$head\n-D$SEED_PROPERTY=$seed or simulate(seed = $seed) repeats it. Its last events:\n$record" +
                repeated.details
        }
    return AssertionError(text, failure.cause)
}

private const val SEED_PROPERTY = "simulation.seed"
