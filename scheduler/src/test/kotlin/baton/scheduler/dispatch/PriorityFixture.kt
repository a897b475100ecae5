package baton.scheduler.dispatch

import baton.Priority
import baton.Priority.NORMAL
import baton.scheduler.PriorityPolicy
import baton.scheduler.prioritized
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.TestScope

/** A dispatcher in virtual time, and a log of its blocks. */
abstract class PriorityFixture {
    protected val ran = ArrayList<String>()

    protected fun TestScope.prioritized(
        parallelism: Int = 1,
        policy: PriorityPolicy = PriorityPolicy.Bounded(),
        default: Priority = NORMAL,
    ) = StandardTestDispatcher(testScheduler).prioritized(parallelism, "test", policy, default = default)
}
