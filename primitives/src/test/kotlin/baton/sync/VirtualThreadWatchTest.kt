package baton.sync

import java.util.concurrent.atomic.AtomicInteger
import kotlin.coroutines.Continuation
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.startCoroutine
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.DisposableHandle
import kotlinx.coroutines.InternalForInheritanceCoroutinesApi
import kotlinx.coroutines.Job
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

/** A waiter that rests on a thread that has ended is never found again: its job collected one watch for every wait. */
@Tag("jdk")
class VirtualThreadWatchTest {
    private val startVirtualThread =
        runCatching { Thread::class.java.getMethod("startVirtualThread", Runnable::class.java) }.getOrNull()

    @Test
    fun coroutineThatMovesFromVirtualThreadToVirtualThread_isWatchedOnceAtATime() {
        assumeTrue(startVirtualThread != null, "since Java 21")
        val semaphore = Semaphore(1, acquired = 1)
        val job = CountingJob()
        val rounds = AtomicInteger()
        suspend {
                repeat(Int.MAX_VALUE) {
                    semaphore.acquire()
                    rounds.incrementAndGet()
                    yield() // it goes on, and waits, on another thread than the one it arrived on
                }
            }
            .startCoroutine(Continuation(OneThreadEach() + job) {})
        repeat(50) {
            semaphore.release()
            assertEquals(1, semaphore.waiting)
            assertEquals(1, job.watches.get())
        }
        assertEquals(50, rounds.get())
        job.cancel()
        assertEquals(0, job.watches.get())
    }

    /** Runs every block on a virtual thread of its own. The caller waits for its end. */
    private inner class OneThreadEach : CoroutineDispatcher() {
        override fun dispatch(context: CoroutineContext, block: Runnable) {
            (startVirtualThread!!.invoke(null, block) as Thread).join()
        }
    }

    @OptIn(InternalForInheritanceCoroutinesApi::class)
    private class CountingJob(private val job: Job = Job()) : Job by job {
        val watches = AtomicInteger()

        override fun <R> fold(initial: R, operation: (R, CoroutineContext.Element) -> R): R = operation(initial, this)

        override fun <E : CoroutineContext.Element> get(key: CoroutineContext.Key<E>): E? = super<Job>.get(key)

        override fun invokeOnCompletion(
            onCancelling: Boolean,
            invokeImmediately: Boolean,
            handler: (Throwable?) -> Unit,
        ): DisposableHandle {
            watches.incrementAndGet()
            val watch = job.invokeOnCompletion(onCancelling, invokeImmediately, handler)
            val disposed = AtomicInteger()
            return DisposableHandle {
                watch.dispose()
                if (disposed.getAndIncrement() == 0) watches.decrementAndGet()
            }
        }
    }
}
