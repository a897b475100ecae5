package baton.test.interleaving

import kotlin.math.ln

/** How many choices there were at each step of a run, of which it keeps the first [LIMIT]. */
internal class Alternatives {
    private var counts = ShortArray(FEW)

    var size: Int = 0
        private set

    /** Whether there were more steps, or at a step more choices, than are kept. */
    var isCut: Boolean = false
        private set

    /** The natural logarithm of how many orders there are, if each has as many choices. */
    var logarithm: Double = 0.0
        private set

    fun add(ready: Int, victims: Int) {
        logarithm += ln((ready + victims).toDouble())
        if (size == LIMIT || ready > MOST || victims > MOST) isCut = true
        if (size == LIMIT) return
        if (size == counts.size) counts = counts.copyOf(2 * size)
        counts[size++] = (ready.coerceAtMost(MOST) shl BITS or victims.coerceAtMost(MOST)).toShort()
    }

    fun ready(step: Int): Int = counts[step].toInt() shr BITS

    fun victims(step: Int): Int = counts[step].toInt() and MOST

    private companion object {
        const val FEW = 32
        const val LIMIT = 4_096
        const val BITS = 7
        const val MOST = (1 shl BITS) - 1
    }
}
