package baton.monitoring

import baton.monitoring.core.jobAndThoseAbove
import baton.monitoring.core.liveHolder
import baton.runBlockingOfAnyKotlinx
import baton.waiting.holders.Holder
import kotlin.time.Duration.Companion.hours
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.job
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertNotSame
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The search for deadlocks comes from a scoped block of kotlinx to the coroutine around it. */
class JobsKotlinxProbe {
    private suspend fun assertIsInside(outer: Job) {
        val caller = Holder(currentCoroutineContext(), null)
        assertNotSame(outer, caller.job)
        assertTrue(outer in caller.jobAndThoseAbove())
    }

    @Test
    fun jobAndThoseAbove_fromEachScopedBlock_containTheCoroutineAround() = runBlockingOfAnyKotlinx {
        val outer = currentCoroutineContext().job
        coroutineScope { assertIsInside(outer) }
        supervisorScope { assertIsInside(outer) }
        withTimeout(1.hours) { assertIsInside(outer) }
        withContext(NonCancellable) { assertIsInside(outer) }
        withContext(Dispatchers.Default) { assertIsInside(outer) }
        withContext(Dispatchers.Default + NonCancellable) { withTimeout(1.hours) { assertIsInside(outer) } }
    }

    @Test
    fun liveHolder_afterTheScopedBlockHasEnded_isTheCoroutineAround() = runBlockingOfAnyKotlinx {
        val caller = withContext(Dispatchers.Default) { Holder(currentCoroutineContext(), null) }
        assertSame(currentCoroutineContext().job, caller.liveHolder())
    }
}
