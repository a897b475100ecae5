package baton.interop

import java.util.concurrent.CompletableFuture
import java.util.concurrent.TimeUnit.SECONDS
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Test

/**
 * A `withTimeout` cancels a coroutine on the timer thread that all coroutines share. The coroutine had requested two
 * permits, of which one is free; its withdrawal grants a Java request.
 */
class CoroutineTimeoutTest {
    private val semaphore = AsyncSemaphore.create(2)
    private val held = semaphore.tryAcquire().get()

    @Test
    fun withTimeout_ofACoroutine_runsDependentsOfTheNextFutureOffKotlinxTimer() {
        heavyRequestThatIsCancelled()
        assertOffSharedTimer(semaphore.acquire().thenApply { Thread.currentThread() })
    }

    @Test
    fun withTimeout_ofACoroutine_runsFunctionOfTheNextSelectOffKotlinxTimer() {
        heavyRequestThatIsCancelled()
        val select = Select.first<Thread>().onAcquire(semaphore) { Thread.currentThread() }
        assertOffSharedTimer(select.start())
    }

    private fun heavyRequestThatIsCancelled() {
        CoroutineScope(Dispatchers.Default.limitedParallelism(1)).launch(start = CoroutineStart.UNDISPATCHED) {
            withTimeout(50.milliseconds) { semaphore.kotlin().acquire(2) }
        }
    }

    private fun assertOffSharedTimer(future: CompletableFuture<Thread>) {
        val name = future.get(120, SECONDS).name
        assertFalse(name.startsWith("kotlinx.coroutines.DefaultExecutor"), name)
        held.close()
    }
}
