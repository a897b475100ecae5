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
    override fun choose(step: Int, ready: List<Step>, victims: List<ExploredCoroutine>): Int {
        val choice = choices[step]
        val exists = if (choice < 0) Order.victim(choice) < victims.size else choice < ready.size
        return if (exists) choice else StepChoices.USUAL
    }
}
