package baton.monitoring

import baton.asClock
import baton.monitoring.core.DeadlockSearch
import baton.waiting.holders.DeadlockDetection
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TestTimeSource

/**
 * The base of tests in which locks know their callers. Whether they do is read once in a JVM, so these tests,
 * `*DeadlockTest`, run in a JVM of their own; alone (`-Dtest=`) they turn it on themselves.
 */
internal abstract class KnownLocks {
    protected val time = TestTimeSource()
    protected val search = DeadlockSearch(time.asClock()::nanoTime)

    init {
        check(DeadlockDetection.isOn) { "a lock was used before -Dbaton.deadlocks=true was set: run this test alone" }
    }

    /** The deadlocks that stand for a second. */
    protected fun standing(): List<Deadlock> {
        search.find()
        time += 1.seconds
        return search.find()
    }

    protected fun textOf(deadlock: Deadlock): Set<String> =
        deadlock.cycle.map { "${it.waiter} > ${it.waitsFor} > ${it.heldBy}" }.toSet()

    private companion object {
        init {
            System.setProperty("baton.deadlocks", "true")
        }
    }
}
