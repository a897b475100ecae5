package baton.test.interleaving

/** The steps of a run, a line each. Of a long run, it keeps the first and the last steps. */
internal class Story {
    private val first = ArrayList<String>()
    private val last = ArrayDeque<String>()
    private var left = 0
    private var hasEnded = false
    private var latest = ""
    private var equal = 0
    private var repeats = 0

    /** The steps that follow are a consequence of the failure. */
    fun end() {
        hasEnded = true
    }

    fun add(step: Int, isUnusual: Boolean, text: String) {
        if (hasEnded) return
        if (text == latest && !isUnusual) {
            if (++equal > EQUAL_KEPT) {
                repeats++
                return
            }
        } else {
            fold()
            latest = text
            equal = 1
        }
        val line = (if (isUnusual) "> " else "  ") + "${step + 1}".padStart(NUMBER) + "  " + text
        add(line)
    }

    /** Of steps that are all the same, as in a loop, there is one line more. */
    private fun fold() {
        if (repeats > 0) add("        and so $repeats times more")
        repeats = 0
    }

    private fun add(line: String) {
        if (first.size < KEPT) {
            first += line
            return
        }
        last += line
        if (last.size > KEPT) {
            last.removeFirst()
            left++
        }
    }

    override fun toString(): String {
        fold()
        val middle = if (left == 0) emptyList() else listOf("  … $left steps …")
        return (first + middle + last).joinToString("\n")
    }

    private companion object {
        const val KEPT = 100
        const val EQUAL_KEPT = 3
        const val NUMBER = 4
    }
}
