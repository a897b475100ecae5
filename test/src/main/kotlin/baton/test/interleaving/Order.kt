package baton.test.interleaving

/** Chooses which of the ready coroutines goes on. One serves one run. */
internal interface Order {
    /**
     * @param ready at least one; the first has come first.
     * @param victims the coroutines that this choice may cancel instead.
     * @return the place in [ready] of the one that goes on, or [cancel].
     */
    fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int

    companion object {
        /** The choice that cancels the coroutine at [place] among the victims. */
        fun cancel(place: Int): Int = -1 - place

        /** The place of the coroutine that the negative [choice] cancels. */
        fun victim(choice: Int): Int = -1 - choice
    }
}

/** The given [choices] again. A choice that is not there is the usual one. */
internal class Again(private val choices: StepChoices) : Order {
    /** The first choice that was not there; null if each was. */
    var missing: String? = null
        private set

    override fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int {
        val choice = choices[step]
        val exists = if (choice < 0) Order.victim(choice) < victims.size else choice < ready.size
        if (exists) return choice
        if (missing == null) missing = missingText(step, choice, ready.size, victims.size)
        return StepChoices.USUAL
    }

    private fun missingText(step: Int, choice: Int, ready: Int, victims: Int): String {
        val number = if (choice < 0) victims else ready
        val are = if (number == 1) "coroutine" else "coroutines"
        val what = if (choice < 0) "can be cancelled" else if (number == 1) "is ready" else "are ready"
        return "step ${step + 1} has no choice ${StepChoices.textOf(choice)}, as $number $are $what there"
    }
}
