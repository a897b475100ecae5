package baton.test.interleaving

import kotlin.math.exp
import kotlin.random.Random

/**
 * The orders of an exploration of [runs] runs. The first is the usual one. A random walk, PCT and [FewestFirst] take
 * turns, but where there seem to be no more orders than [runs], the first half of the turns is for [FewestFirst].
 */
internal class Orders(private val seed: Long, private val runs: Int, private val cancels: Boolean) {
    private val fewest = FewestFirst(Random(seed))
    private var number = 0
    private var length = 1
    private var isSmall = false
    private var systematic: StepChoices? = StepChoices.NONE

    /** The next order; null once all have been tried. */
    fun next(): Order? {
        val turn = number++
        val random = Random(seed + turn)
        systematic = null
        if (turn == 0) return again(StepChoices.NONE)
        if (turn % 3 == 0 || isSmall && turn < runs / 2)
            fewest.next()?.let {
                return again(it)
            }
        if (fewest.hasTriedAll) return null
        val order = if (turn % 3 == 1) RandomWalk(random) else Pct(random, depth(turn), length)
        return if (cancels && turn % 4 != 0) CancelOnce(order, random, random.nextInt(length)) else order
    }

    private fun again(choices: StepChoices): Order {
        systematic = choices
        return Again(choices)
    }

    /** The order that came last has been run, and took [steps]. */
    fun hasRun(steps: Int, alternatives: Alternatives) {
        length = maxOf(length, steps)
        val choices = systematic ?: return
        if (choices === StepChoices.NONE) isSmall = exp(alternatives.logarithm) <= runs
        fewest.hasRun(choices, alternatives)
    }

    private fun depth(turn: Int) = MIN_DEPTH + turn / 3 % DEPTHS

    private companion object {
        const val MIN_DEPTH = 2
        const val DEPTHS = 3
    }
}
