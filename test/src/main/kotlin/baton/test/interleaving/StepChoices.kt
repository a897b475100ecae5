package baton.test.interleaving

/**
 * The choices of a run, one for each of its steps; all that follow are [USUAL]. A positive choice is the place, among
 * the ready coroutines, of the one that goes on: 0 is usual. A negative one cancels a coroutine.
 */
internal class StepChoices(private val choices: IntArray) {
    /** The number of steps up to the last that is unusual. */
    val size: Int = choices.indexOfLast { it != USUAL } + 1

    /** The steps with unusual choices. */
    val unusual: List<Int> = (0..<size).filter { choices[it] != USUAL }

    operator fun get(step: Int): Int = if (step < size) choices[step] else USUAL

    fun hasCancel(): Boolean = unusual.any { choices[it] < 0 }

    /** Those at the given steps alone. */
    fun only(steps: Collection<Int>): StepChoices {
        val kept = IntArray(size)
        for (step in steps) kept[step] = choices[step]
        return StepChoices(kept)
    }

    /** These up to [step], which gets [choice], and is the last that is unusual. */
    fun plus(step: Int, choice: Int): StepChoices {
        val longer = IntArray(step + 1)
        choices.copyInto(longer, 0, 0, size)
        longer[step] = choice
        return StepChoices(longer)
    }

    /** As [parse] reads it: the number of each step with an unusual choice, counted from 1, and the choice. */
    override fun toString(): String = unusual.joinToString(" ") { step -> "${step + 1}=${textOf(choices[step])}" }

    companion object {
        const val USUAL: Int = 0

        val NONE: StepChoices = StepChoices(IntArray(0))

        fun textOf(choice: Int): String = if (choice < 0) "x${-choice}" else "$choice"

        private val CHOICE = Regex("([1-9]\\d{0,8})=(x?)([1-9]\\d{0,8})")

        fun parse(text: String): StepChoices {
            val choices =
                text
                    .split(' ')
                    .filter { it.isNotEmpty() }
                    .map { part ->
                        val match = CHOICE.matchEntire(part)
                        requireNotNull(match) {
                            "choices = '$text', must be as an error of explore names them: '4=1 9=x2'"
                        }
                        val (step, cancel, choice) = match.destructured
                        step.toInt() - 1 to if (cancel.isEmpty()) choice.toInt() else -choice.toInt()
                    }
            val last = choices.maxOfOrNull { it.first } ?: return NONE
            require(last < Explorer.MAX_STEPS) { "choices = '$text', must be within ${Explorer.MAX_STEPS} steps" }
            val dense = IntArray(last + 1)
            for ((step, choice) in choices) dense[step] = choice
            return StepChoices(dense)
        }
    }
}
