package baton.test.interleaving

import kotlin.random.Random

/**
 * Looks for the fewest unusual choices with which [body] still has a [failure] like this one. First by delta debugging
 * (Zeller, Hildebrandt: "Simplifying and isolating failure-inducing input", 2002): of those that are left, none can be
 * left out. Then by trying all that are fewer, as far as the limits of the search allow: a choice may need others only
 * to be at the right step.
 */
internal class Reduction(private val body: Body, private val failure: Failure) {
    private var runs = 0
    private var steps = 0

    fun reduce(failing: StepChoices): StepChoices {
        var best = failing
        var size = best.unusual.size
        while (size > 0) {
            val before = best.unusual.size
            best = withoutParts(best, size)
            val hasShrunk = best.unusual.size < before
            size = if (size == 1 && hasShrunk) 1 else minOf(size / 2, best.unusual.size)
        }
        return fewer(best) ?: best
    }

    /** Choices that are fewer than [best] and fail, if the search finds some. */
    private fun fewer(best: StepChoices): StepChoices? {
        val orders = FewestFirst(Random(0))
        val cancels = best.hasCancel()
        var left = MAX_RUNS
        var next: StepChoices? = StepChoices.NONE
        while (next != null && next.unusual.size < best.unusual.size && left-- > 0 && steps < MAX_STEPS) {
            val run = Run(body, Again(next), cancels)
            if (failure.isLike(run.run(isPatient = false))) return run.explorer.choices()
            steps += run.explorer.steps
            orders.hasRun(next, run.explorer.alternatives)
            next = orders.next()
        }
        return null
    }

    /** Leaves out each part of [size] choices without which it still fails. */
    private fun withoutParts(choices: StepChoices, size: Int): StepChoices {
        var best = choices
        var from = 0
        while (from < best.unusual.size) {
            val kept = best.unusual.filterIndexed { index, _ -> index !in from..<from + size }
            val smaller = failingWith(best.only(kept))
            if (smaller != null && smaller.unusual.size < best.unusual.size) best = smaller else from += size
        }
        return best
    }

    /** The choices that a run with these has made, if it fails. */
    private fun failingWith(choices: StepChoices): StepChoices? {
        if (runs == MAX_RUNS || steps > MAX_STEPS) return null
        val run = Run(body, Again(choices), choices.hasCancel())
        val found = run.run(isPatient = false)
        runs++
        steps += run.explorer.steps
        return run.explorer.choices().takeIf { failure.isLike(found) }
    }

    private companion object {
        const val MAX_RUNS = 2_000
        const val MAX_STEPS = 5_000_000
    }
}
