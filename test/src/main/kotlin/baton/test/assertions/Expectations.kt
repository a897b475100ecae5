package baton.test.assertions

import baton.bridge.isClosed
import baton.scheduler.TaskScheduler
import org.opentest4j.AssertionFailedError

/** What can be expected of a target. Each function throws an [AssertionError] that says what there is instead. */
internal object Expectations {
    fun idle(target: Any) {
        val look = Look(target)
        val busy = listOfNotNull(look.held, look.waiters).filter { it.number != 0L }
        if (busy.isEmpty()) return
        val seen = busy.joinToString { "${it.noun}: ${it.number}" }
        throw failure("$target is not idle" + linesOf(look), "idle", seen)
    }

    fun waiters(target: Any, expected: Int) {
        require(expected >= 0) { "expected = $expected, must be at least 0" }
        val look = Look(target)
        val seen = look.waiters.number
        if (seen == expected.toLong()) return
        throw failure("$target: waiting = $seen, expected = $expected" + linesOf(look), expected, seen)
    }

    fun inUse(target: Any, expected: Long) {
        require(expected >= 0) { "expected = $expected, must be at least 0" }
        val look = Look(target)
        val seen = look.usage.inUse
        if (seen == expected) return
        throw failure("$target: in use = $seen, expected = $expected" + linesOf(look), expected, seen)
    }

    fun closed(target: Any) {
        val look = Look(target)
        val source = look.source
        val isClosed = if (source is TaskScheduler) source.isClosed else isClosed(source)
        requireNotNull(isClosed) { "$target cannot be closed" }
        if (!isClosed) throw failure("$target is not closed" + linesOf(look), "closed", "open")
    }

    private fun linesOf(look: Look) =
        listOfNotNull(look.held, look.waiters).filter { it.number != 0L }.joinToString("") { it.line() }

    /** For JUnit with the two values, where it is there. */
    fun failure(message: String, expected: Any, actual: Any): AssertionError =
        try {
            OfJUnit.failure(message, expected, actual)
        } catch (_: NoClassDefFoundError) {
            AssertionError(message)
        }

    /** Apart, so that a project without JUnit does not load its class. */
    private object OfJUnit {
        fun failure(message: String, expected: Any, actual: Any): AssertionError =
            AssertionFailedError(message, expected, actual)
    }
}
