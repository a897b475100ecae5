package baton.test.simulation

import java.util.Locale

/** The last events of a simulation, a line each. Of most seeds it keeps nothing, see [isOn]. */
internal class Record(isOn: Boolean, private val loop: VirtualLoop) {
    private val lines = ArrayDeque<String>()
    private var left = 0

    /** False also once the seed has failed. */
    var isOn: Boolean = isOn
        private set

    fun end() {
        isOn = false
    }

    inline fun add(text: () -> String) {
        if (isOn) keep(text())
    }

    fun keep(text: String) {
        lines += "${timeOf(loop.nanos).padStart(WIDTH)}  $text"
        if (lines.size <= KEPT) return
        lines.removeFirst()
        left++
    }

    override fun toString(): String =
        (if (left == 0) lines else listOf("… $left events …") + lines).joinToString("\n") { "  $it" }

    companion object {
        private const val KEPT = 100
        private const val WIDTH = 11
        private const val NANOS = 1e9

        /** The [nanos] in seconds. */
        fun timeOf(nanos: Long): String = String.format(Locale.ROOT, "%.3f s", nanos / NANOS)
    }
}
