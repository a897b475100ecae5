package baton.memory

import baton.sync.Semaphore
import java.lang.ref.WeakReference
import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import kotlin.concurrent.thread
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class JobHandlersMemoryTest {
    /** Each step of a coroutine runs on a thread of its own, which ends with the step. */
    private val threadForEachStep = Executor { step -> thread { step.run() } }.asCoroutineDispatcher()

    @Test
    fun longLivedCoroutine_waitsOnThreadsThatEnd_keepsNoHandlersOfItsJob() =
        runBlocking {
            val semaphore = Semaphore(1, acquired = 1)
            val waits = CountDownLatch(WARM_UP)
            val allWaits = CountDownLatch(WARM_UP + WAITS)
            val actor =
                launch(threadForEachStep) {
                    while (true) {
                        semaphore.acquire()
                        // The next wait begins on another thread than this one ended on.
                        yield()
                        waits.countDown()
                        allWaits.countDown()
                    }
                }

            fun letWait(counter: CountDownLatch) {
                while (counter.count > 0) if (semaphore.waiting > 0) semaphore.release() else Thread.yield()
            }
            letWait(waits)
            val before = usedHeap()
            letWait(allWaits)
            val after = usedHeap()
            actor.cancel()
            assertTrue(after - before < WAITS * BYTES, "${after - before} bytes for $WAITS waits")
        }

    @Test
    fun finishedCoroutine_whoseWaiterIsCached_isCollected() {
        assertCollected(List(3) { finishAfterAWait() })
    }

    private fun finishAfterAWait(): WeakReference<Job> {
        val semaphore = Semaphore(1, acquired = 1)
        val job = GlobalScope.launch(Dispatchers.Unconfined) { semaphore.acquire() }
        semaphore.release()
        assertTrue(job.isCompleted)
        return WeakReference(job)
    }

    private companion object {
        const val WARM_UP = 500
        const val WAITS = 5_000

        /** A handler has some 200. */
        const val BYTES = 40
    }
}
