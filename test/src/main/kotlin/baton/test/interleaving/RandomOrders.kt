package baton.test.interleaving

import java.util.IdentityHashMap
import kotlin.random.Random

/** Any of the ready coroutines, each as likely. */
internal class RandomWalk(private val random: Random) : Order {
    override fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int =
        random.nextInt(ready.size)
}

/**
 * Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A randomized scheduler with
 * probabilistic guarantees of finding bugs", ASPLOS 2010). Each coroutine gets a random priority, and the ready one of
 * the highest goes on. At `depth - 1` random steps, the one that would go on falls below all others. That finds a bug
 * which needs `depth` ordered steps, among `n` coroutines and `k` steps, with probability 1 / (n · k^(depth - 1)).
 *
 * @param length how many steps a run is expected to take.
 */
internal class Pct(private val random: Random, depth: Int, length: Int) : Order {
    private val priorities = IdentityHashMap<ExploredCoroutine, Int>()
    private val changes = IntArray(depth - 1) { random.nextInt(length.coerceAtMost(UNFAIR_STEPS)) }
    private var lowest = 0

    override fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int {
        // A coroutine that yields until another one has done something would have the highest priority for ever.
        if (step >= UNFAIR_STEPS) return random.nextInt(ready.size)
        val first = highest(ready)
        if (step !in changes) return first
        priorities[ready[first].coroutine] = --lowest
        return highest(ready)
    }

    private fun highest(ready: List<Step>): Int = ready.indices.maxBy { priorityOf(ready[it].coroutine) }

    private fun priorityOf(coroutine: ExploredCoroutine): Int =
        priorities.getOrPut(coroutine) { random.nextInt(Int.MAX_VALUE) }

    private companion object {
        const val UNFAIR_STEPS = 5_000
    }
}

/** As [order], but the first step from [at] on at which one can be cancelled cancels one of them. */
internal class CancelOnce(private val order: Order, private val random: Random, private val at: Int) : Order {
    override fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int {
        if (step >= at && victims.isNotEmpty()) return Order.cancel(random.nextInt(victims.size))
        return order.choose(step, ready, victims)
    }
}
