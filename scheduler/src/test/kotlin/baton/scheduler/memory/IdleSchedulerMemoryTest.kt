package baton.scheduler.memory

import baton.memory.assertAllocates
import baton.scheduler.TaskScheduler
import baton.scheduler.prioritized
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** The bytes of a dispatcher or scheduler without work: a service may have one for each of its tenants. */
class IdleSchedulerMemoryTest {
    enum class Kind(val mostBytes: Long, val create: () -> Any) {
        DISPATCHER(288, { Dispatchers.Default.prioritized(2) }),
        DISPATCHER_THAT_RAN(608, { InPlace.prioritized(2).also { it.dispatch(EmptyCoroutineContext) {} } }),
        DISPATCHER_AND_VIEW(1072, { Dispatchers.Default.prioritized(2).limitedParallelism(1) }),
        SCHEDULER(864, { TaskScheduler(SCOPE, maxConcurrency = 2) }),
    }

    @ParameterizedTest
    @EnumSource
    fun idle_takesFewBytes(kind: Kind) {
        assertAllocates(kind.mostBytes, kind.create)
    }

    /** Runs blocks on the caller's thread, whose allocations are counted. */
    private object InPlace : CoroutineDispatcher() {
        override fun dispatch(context: CoroutineContext, block: Runnable) = block.run()
    }

    private companion object {
        val SCOPE = CoroutineScope(Dispatchers.Default)
    }
}
