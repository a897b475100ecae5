package users

import baton.Priority
import baton.scheduler.PriorityDispatcher
import baton.scheduler.prioritized
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.ExperimentalCoroutinesApi
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

class DispatcherTest {
    @OptIn(ExperimentalCoroutinesApi::class) // it was experimental then
    @Test
    fun limitedParallelism_byTheMethodOfKotlinx18_returnsAPriorityDispatcher() {
        val view = Dispatchers.Default.prioritized(4).level(Priority.HIGH).limitedParallelism(2)
        assertEquals(2, (view as PriorityDispatcher).parallelism)
    }
}
