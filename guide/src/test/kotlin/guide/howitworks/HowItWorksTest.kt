package guide.howitworks

import baton.interop.AsyncSemaphore
import baton.interop.Permit
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.withLock
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.test.runTest
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The Kotlin of docs/how-it-works.md. */
class HowItWorksTest {
    @Test
    fun waitersOfThreeKinds_standInOneQueue() = runBlocking {
        val served = CopyOnWriteArrayList<String>()
        val uplink = Semaphore(permits = 1, name = "uplink")
        val java = AsyncSemaphore.of(uplink) // a view: the same object, the same queue
        uplink.acquire()

        launch(start = CoroutineStart.UNDISPATCHED) { uplink.acquire().also { served += "coroutine" } }
        val future: CompletableFuture<Permit> = java.acquire().whenComplete { _, _ -> served += "future" }
        val thread = thread { java.blocking().acquire().also { served += "thread" } }
        while (uplink.waiting < 3) yield()

        repeat(3) {
            uplink.release(1) // to the one at the head, of whichever kind
            while (served.size <= it) yield()
        }
        assertEquals(listOf("coroutine", "future", "thread"), served)
        assertTrue(future.join().isHeld)
        thread.join()
    }

    @Test
    fun release_whileACallerWaits_leavesNoFreePermit() = runBlocking {
        val semaphore = Semaphore(permits = 1)
        semaphore.acquire()
        val waiter = launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire() }
        semaphore.release(1) // belongs to the waiter from now on, though that has not run yet
        assertFalse(semaphore.tryAcquire())
        waiter.cancelAndJoin() // before it has run: the permit goes on, here back to the semaphore
        assertTrue(semaphore.tryAcquire())
    }

    @Test
    fun cancel_ofTheHead_admitsTheCallersBehindIt() = runBlocking {
        val semaphore = Semaphore(permits = 3)
        semaphore.acquire(2)
        val large = launch(start = CoroutineStart.UNDISPATCHED) { semaphore.acquire(3) }
        val small =
            launch(start = CoroutineStart.UNDISPATCHED) {
                semaphore.acquire(1)
            } // waits behind it: first come, first served
        assertEquals(2, semaphore.waiting)
        large.cancelAndJoin() // leaves the queue in O(1), and the core looks at the new head
        assertEquals(0, semaphore.waiting)
        small.join()
    }

    @Test
    fun chainOfHandOvers_staysFlat() = runBlocking {
        val mutex = Mutex()
        var count = 0
        coroutineScope {
            mutex.withLock {
                repeat(100_000) {
                    launch(Dispatchers.Unconfined) {
                        mutex.withLock { count++ }
                    } // waits; each wakes the next one in place
                }
            }
        }
        assertEquals(100_000, count)
    }

    @Test
    fun timeout_inVirtualTime_takesNoTime() = runTest {
        val semaphore = Semaphore(permits = 1)
        semaphore.acquire()
        assertFalse(semaphore.tryAcquire(timeout = 5.minutes)) // five minutes of the test's time
        assertEquals(5.minutes, testScheduler.currentTime.milliseconds)
    }
}
