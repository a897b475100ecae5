package baton.test.interleaving

import kotlin.random.Random

/** Runs [body] under many orders. */
internal class Exploration(private val body: Body) {
    fun run(runs: Int, seed: Long?, cancels: Boolean) {
        val chosenSeed = seed ?: Random.nextLong()
        val orders = Orders(chosenSeed, runs, cancels)
        for (number in 1..runs) {
            if (Thread.interrupted()) throw InterruptedException("explore was interrupted")
            val order = orders.next() ?: return
            val run = Run(body, order, cancels)
            val failure = run.run(isPatient = true)
            if (failure != null) throw report("explore: order $number of $runs (seed = ${chosenSeed}L)", run, failure)
            orders.hasRun(run.explorer.steps, run.explorer.alternatives)
        }
    }

    fun replay(choices: StepChoices) {
        val story = Story()
        val order = Again(choices)
        val run = Run(body, order, choices.hasCancel(), story)
        val failure = run.run(isPatient = true)
        val steps = run.explorer.steps
        val missing = order.missing ?: if (failure == null && steps < choices.size) "there are $steps steps" else null
        require(missing == null) {
            "choices = '$choices': $missing. The body is not the one that failed: run explore again"
        }
        if (failure == null) return
        throw outside(failure) ?: error("replay: the order", run.explorer.choices(), failure, story)
    }

    private fun report(title: String, run: Run, failure: Failure): Throwable {
        outside(failure)?.let {
            return it
        }
        val choices = run.explorer.choices()
        val repeated = Run(body, Again(choices), choices.hasCancel())
        val repeatedFailure = repeated.run(isPatient = false)
        if (!failure.isLike(repeatedFailure)) {
            return notRepeatable(title, failure, repeatedFailure?.let { "fails otherwise: ${it.text}" } ?: "passes")
        }
        if (repeated.explorer.trace != run.explorer.trace) {
            return notRepeatable(title, failure, "takes other steps")
        }
        val fewest = Reduction(body, failure).reduce(choices)
        val story = Story()
        val last = Run(body, Again(fewest), fewest.hasCancel(), story)
        val lastFailure = last.run(isPatient = true)
        if (lastFailure == null || !failure.isLike(lastFailure)) {
            return notRepeatable(title, failure, lastFailure?.let { "fails otherwise: ${it.text}" } ?: "passes")
        }
        return error(title, last.explorer.choices(), lastFailure, story)
    }

    /** The mistake of a test whose coroutines leave the thread. */
    private fun outside(failure: Failure): Throwable? = failure.cause.takeIf { failure.kind == Failure.Kind.OUTSIDE }

    private fun error(title: String, choices: StepChoices, failure: Failure, story: Story): AssertionError {
        val count = choices.unusual.size
        val unusual =
            when (count) {
                0 -> "The usual order fails"
                1 -> "1 unusual choice fails"
                else -> "$count unusual choices fail"
            }
        val text =
            "$title fails: ${failure.text}\n$unusual, which replay(\"$choices\") repeats:\n$story${failure.details}"
        return AssertionError(text, failure.cause)
    }

    private fun notRepeatable(title: String, failure: Failure, then: String): AssertionError {
        val text =
            "$title fails: ${failure.text}\nThat does not repeat: the same order then $then. The body depends on more " +
                "than the order of its coroutines: on real time, random numbers, hash codes, or what an earlier run has " +
                "changed."
        return AssertionError(text, failure.cause)
    }
}
