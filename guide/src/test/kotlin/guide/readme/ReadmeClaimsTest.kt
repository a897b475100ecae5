package guide.readme

import baton.interop.AsyncMutex
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import java.util.Collections.synchronizedList
import java.util.concurrent.CompletableFuture
import kotlin.concurrent.thread
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The claims of README.md, with the lines that prove them. */
class ReadmeClaimsTest {
    @Test
    fun queue_ofACoroutineAFutureAndAThread_isOne(): Unit = runBlocking {
        val served = synchronizedList(ArrayList<String>())
        val mutex = Mutex(locked = true)
        val java = AsyncMutex.of(mutex) // the same mutex, for Java
        val coroutine = launch { mutex.withLock { served += "coroutine" } }
        yield() // lets the coroutine run until it waits
        val future = java.withLock { CompletableFuture.completedFuture(served.add("future")) }
        val thread = thread { java.blocking().call { served += "thread" } }
        mutex.unlock() // serves the coroutine, the future, the thread
        coroutine.join()
        thread.join()
        assertTrue(future.isDone)
        assertEquals(listOf("coroutine", "future", "thread"), served)
    }

    @Test
    fun permit_ofAWaiterThatGoesAway_isNotLost() = runTest {
        val semaphore = Semaphore(permits = 1, acquired = 1)
        val first = launch { semaphore.acquire() }
        val second = launch { semaphore.acquire() }
        yield() // both wait now
        semaphore.release() // grants the permit to the first
        first.cancel() // before it runs: the second has the permit
        joinAll(first, second)
        runCurrent()
        assertTrue(first.isCancelled && !second.isCancelled)
        assertEquals("Semaphore (permits = 1, available = 0, waiting = 0)", semaphore.toString())
    }
}
