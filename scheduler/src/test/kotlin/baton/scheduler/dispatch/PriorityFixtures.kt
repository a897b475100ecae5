package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.NORMAL
import baton.scheduler.PriorityDispatcher
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue

/** A dispatcher in virtual time, and a log of its blocks. */
abstract class PriorityFixture {
    protected val ran = ArrayList<String>()

    protected fun TestScope.prioritized(
        parallelism: Int = 1,
        policy: PriorityPolicy = PriorityPolicy.Bounded(),
        default: Priority = NORMAL,
    ) = StandardTestDispatcher(testScheduler).prioritized(parallelism, "test", policy, default = default)
}

/** One worker in virtual time; no boost is left at the end. */
internal abstract class BoostingFixture {
    protected lateinit var prioritized: PriorityDispatcher

    protected fun boosting(policy: PriorityPolicy = PriorityPolicy.Strict, test: suspend TestScope.() -> Unit) =
        runTest {
            prioritized = StandardTestDispatcher(testScheduler).prioritized(1, "test", policy)
            test()
            testScheduler.advanceUntilIdle()
            assertTrue((prioritized as DispatcherView).boosts.isEmpty, "a coroutine is still boosted")
        }

    protected fun TestScope.runQueued() = testScheduler.runCurrent()

    protected suspend fun times(n: Int) = repeat(n) { yield() }
}
