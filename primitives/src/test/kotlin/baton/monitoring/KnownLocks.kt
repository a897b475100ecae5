package baton.monitoring

import baton.asClock
import baton.monitoring.core.DeadlockSearch
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource

/**
 * The base of tests in which locks know their callers. They do so until the JVM ends, so these tests, `*DeadlockTest`,
 * run in a JVM of their own, where the property turns it on; alone (`-Dtest=`) they turn it on themselves.
 */
internal abstract class KnownLocks {
    protected val time = TestTimeSource()
    protected val search = DeadlockSearch(nanos = time.asClock()::nanoTime)

    init {
        Deadlocks.enable()
    }

    /** The deadlocks that stand for a second. */
    protected fun standing(): List<Deadlock> {
        search.find()
        time += 1.seconds
        return search.find()
    }

    protected fun textOf(deadlock: Deadlock): Set<String> =
        deadlock.cycle.map { "${it.waiter} > ${it.waitsFor} > ${it.heldBy}" }.toSet()
}
