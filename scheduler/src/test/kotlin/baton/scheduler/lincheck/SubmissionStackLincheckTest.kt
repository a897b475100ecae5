package baton.scheduler.lincheck

import baton.lincheck.world.Effort
import org.jetbrains.lincheck.datastructures.DSLScenarioBuilder

/** As [TaskCoreLincheckTest] with unbounded capacity: enqueueing while no task can start takes no lock. */
open class SubmissionStackLincheckTest : TaskCoreLincheckTest() {
    override val capacity
        get() = Int.MAX_VALUE

    /** The first task that is enqueued runs, and the others are in the submission stack. */
    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() =
            listOf(
                after(1, { actor(::enqueue) }, { actor(::end, 0) }),
                after(1, { actor(::enqueue) }, { actor(::close) }),
                after(2, { actor(::enqueue) }, { actor(::withdraw, 1) }),
                after(2, { actor(::end, 0) }, { actor(::prioritize, 1, 0) }),
                after(1, { actor(::enqueue) }, { actor(::enqueue) }, { actor(::close) }),
            )
}

class SubmissionStackLincheckDeepTest : SubmissionStackLincheckTest() {
    override val effort
        get() = Effort.DEEP

    override val scenarios: List<DSLScenarioBuilder.() -> Unit>
        get() =
            super.scenarios +
                listOf(
                    after(1, { actor(::enqueue) }, { actor(::enqueue) }, { actor(::end, 0) }),
                    after(
                        1,
                        { actor(::enqueue) },
                        {
                            actor(::pause)
                            actor(::end, 0)
                        },
                        { actor(::resume) },
                    ),
                    after(2, { actor(::enqueue) }, { actor(::resize, 2) }, { actor(::end, 0) }),
                )
}
