package baton.scheduler

import baton.scheduler.dispatch.DispatcherView
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue

/** One worker in virtual time; in the end nobody is lifted. */
internal abstract class BoostingFixture {
    protected lateinit var prioritized: PriorityDispatcher

    protected fun boosting(policy: PriorityPolicy = PriorityPolicy.Strict, test: suspend TestScope.() -> Unit) =
        runTest {
            prioritized = StandardTestDispatcher(testScheduler).prioritized(1, "test", policy)
            test()
            testScheduler.advanceUntilIdle()
            assertTrue((prioritized as DispatcherView).boosts.isEmpty, "somebody is still lifted")
        }

    protected fun TestScope.settle() = testScheduler.runCurrent()

    protected suspend fun times(n: Int) = repeat(n) { yield() }
}
