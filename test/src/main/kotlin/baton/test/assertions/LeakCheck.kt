package baton.test.assertions

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.LockSupport

/** Compares [targets] as they are now with how they are at the end. */
internal class LeakCheck(targets: List<Any>) {
    private val before = requireObjects(targets).map(::Look)

    /**
     * Ends the check. While something is left, it looks again, for as long as [patienceNanos].
     *
     * @param failure of what was checked, which then gets what this would throw as suppressed.
     * @throws AssertionError with all that is left.
     */
    fun end(failure: Throwable? = null, patienceNanos: Long = 0) {
        try {
            requireNoLeaks(patienceNanos)
        } catch (e: Throwable) {
            if (failure == null) throw e else failure.addSuppressed(e)
        }
    }

    private fun requireNoLeaks(patienceNanos: Long) {
        val start = System.nanoTime()
        var leaks = leaks()
        while (leaks.isNotEmpty() && System.nanoTime() - start < patienceNanos) {
            LockSupport.parkNanos(this, BETWEEN_LOOKS)
            leaks = leaks()
        }
        if (leaks.isEmpty()) return
        throw Expectations.failure("left behind:\n" + leaks.joinToString("\n"), "nothing", "${leaks.size} leaks")
    }

    /** A text for each target of which more is left than there was. */
    private fun leaks() = before.mapNotNull { leakOf(it, Look(it.target)) }

    private fun leakOf(before: Look, after: Look): String? {
        val lines =
            listOf(before.held to after.held, before.waiters to after.waiters, before.timers to after.timers)
                .mapNotNull { (earlier, now) ->
                    val known = earlier?.number ?: 0
                    if (now == null || now.number <= known) null else now.line(known)
                }
        return if (lines.isEmpty()) null else "${after.target}" + lines.joinToString("")
    }

    companion object {
        /** For a check of no objects, which would find nothing whatever is left. */
        fun requireObjects(targets: List<Any>): List<Any> {
            require(targets.isNotEmpty()) { "no objects to look at: name those at which nothing may be left" }
            return targets
        }

        /** Of tests in real time, in which the last steps of other threads may take a while. */
        @JvmField val PATIENCE: Long = TimeUnit.SECONDS.toNanos(1)

        private val BETWEEN_LOOKS = TimeUnit.MILLISECONDS.toNanos(1)
    }
}
