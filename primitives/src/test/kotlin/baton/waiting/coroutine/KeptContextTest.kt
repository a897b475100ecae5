package baton.waiting.coroutine

import baton.parallel.mapLimit
import baton.resilience.CircuitBreaker
import baton.resilience.RetryPolicy
import baton.resilience.retry
import baton.sync.Barrier
import baton.sync.Mutex
import baton.sync.withLock
import baton.tasks.cancellableTask
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asContextElement
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout

/**
 * The Kotlin table of docs/context.md. A thread local with a context element stands for a logging context or a trace.
 */
@Timeout(120)
class KeptContextTest {
    private val user = ThreadLocal.withInitial { "none" }

    private suspend fun <T> asUser(name: String, block: suspend () -> T): T =
        withContext(user.asContextElement(name)) { block() }

    private fun onPool(block: suspend () -> Unit) = runBlocking(Dispatchers.Default) { block() }

    @Test
    fun block_afterAWait_hasTheContextOfItsCaller_notOfTheReleaser() = onPool {
        coroutineScope {
            val mutex = Mutex(locked = true)
            val seen = async { asUser("ann") { mutex.withLock { user.get() } } }
            while (mutex.waiting == 0) yield()
            asUser("releaser") { mutex.unlock() }
            assertEquals("ann", seen.await())
            assertEquals("none", user.get())
        }
    }

    @Test
    fun functionsOfMapLimit_andAttempts_haveTheContextOfTheCaller() = onPool {
        asUser("ann") {
            val mapped =
                (1..3).mapLimit(2) {
                    delay(1)
                    user.get() + it
                }
            assertEquals(listOf("ann1", "ann2", "ann3"), mapped)
            var attempts = 0
            val seen =
                retry(RetryPolicy(maxAttempts = 2, retryIf = { true })) {
                    delay(1)
                    if (++attempts == 1) error("first")
                    user.get()
                }
            assertEquals("ann", seen)
        }
    }

    @Test
    fun actionOfABarrier_hasTheContextOfThePartyThatCameLast() = onPool {
        coroutineScope {
            val seen = CopyOnWriteArrayList<String>()
            val barrier = Barrier(2) { seen += user.get() }
            launch { asUser("first") { barrier.arrive() } }
            while (barrier.waiting == 0) yield()
            asUser("last") { barrier.arrive() }
            assertEquals(listOf("last"), seen)
        }
    }

    @Test
    fun blockAndTeardownOfATask_haveTheContextThatIsPassed() = onPool {
        coroutineScope {
            val seen = CopyOnWriteArrayList<String>()
            val task =
                cancellableTask(user.asContextElement("ann")) {
                    onTeardown { seen += user.get() }
                    delay(1)
                    seen += user.get()
                    awaitCancellation()
                }
            while (seen.isEmpty()) yield()
            asUser("canceller") { task.cancelAndJoin() }
            assertEquals(listOf("ann", "ann"), seen)
        }
    }

    @Test
    fun listenerOfABreaker_seesTheThreadThatMadeTheChange() = onPool {
        val breaker = CircuitBreaker()
        var seen: String? = null
        asUser("ann") { breaker.onChange { _, _ -> seen = user.get() } }
        asUser("operator") { breaker.trip() }
        assertEquals("operator", seen)
    }
}
