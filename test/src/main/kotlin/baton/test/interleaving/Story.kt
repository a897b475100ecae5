package baton.test.interleaving

/** What a run did, line by line. Of a long run, it keeps the first and the last steps. */
internal class Story {
    private val first = ArrayList<String>()
    private val last = ArrayDeque<String>()
    private var left = 0
    private var hasEnded = false

    /** What follows is a consequence of the failure. */
    fun end() {
        hasEnded = true
    }

    fun add(step: Int, isUnusual: Boolean, text: String) {
        if (hasEnded) return
        val line = (if (isUnusual) "> " else "  ") + "${step + 1}".padStart(NUMBER) + "  " + text
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
        val middle = if (left == 0) emptyList() else listOf("  … $left steps …")
        return (first + middle + last).joinToString("\n")
    }

    private companion object {
        const val KEPT = 100
        const val NUMBER = 4
    }
}
