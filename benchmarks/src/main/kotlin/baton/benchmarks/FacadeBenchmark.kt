package baton.benchmarks

import baton.interop.AsyncSemaphore
import baton.interop.Permit
import com.ibm.asyncutil.locks.FairAsyncSemaphore
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ExecutorService
import java.util.concurrent.Semaphore as JucSemaphore
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.future.future
import kotlinx.coroutines.sync.Semaphore as KotlinxSemaphore
import org.openjdk.jmh.annotations.Benchmark
import org.openjdk.jmh.annotations.Param
import org.openjdk.jmh.annotations.Scope
import org.openjdk.jmh.annotations.Setup
import org.openjdk.jmh.annotations.State
import org.openjdk.jmh.annotations.TearDown

/**
 * The cost for a Java caller of acquiring a permit by a future; [BlockingBenchmark] has that of a thread that blocks.
 */
open class FacadeBenchmark : BatonBenchmark() {
    @State(Scope.Benchmark)
    open class Free {
        @Param("baton", "asyncutil", "future-unconfined", "future-default", "juc") lateinit var impl: String
        lateinit var face: Face

        @Setup
        fun create() {
            face = faceOf(impl)
        }
    }

    /** Acquire, join and release a free permit. */
    @Benchmark
    fun free(state: Free) {
        state.face.acquire()
        state.face.release()
    }

    @State(Scope.Benchmark)
    open class Held {
        /** juc: a virtual thread waits, and completes a future. */
        @Param("baton", "asyncutil", "future-unconfined", "future-default", "juc") lateinit var impl: String
        lateinit var face: Face

        @Setup
        fun take() {
            face = faceOf(impl)
            face.prepareToWait()
            face.acquire()
        }

        @TearDown
        fun close() {
            face.close()
        }
    }

    /** A future waits for a held permit; the release completes the future, which then holds the permit. */
    @Benchmark
    fun waiting(state: Held) {
        state.face.passOn()
    }

    /** One permit, and so at most one holder. */
    interface Face {
        fun acquire()

        fun release()

        fun passOn()

        fun prepareToWait() {}

        fun close() {}
    }

    private companion object {
        fun faceOf(impl: String): Face =
            when (impl) {
                "baton" -> BatonFace()
                "asyncutil" -> AsyncutilFace()
                "future-unconfined" -> FutureFace(Dispatchers.Unconfined)
                "future-default" -> FutureFace(Dispatchers.Default)
                "juc" -> JucFace()
                else -> throw IllegalArgumentException("impl = $impl")
            }
    }
}

private class BatonFace : FacadeBenchmark.Face {
    private val semaphore = AsyncSemaphore.create(1)
    private lateinit var held: Permit

    override fun acquire() {
        held = semaphore.acquire().join()
    }

    override fun release() = held.close()

    override fun passOn() {
        val next = semaphore.acquire()
        checkWaits(next)
        held.close()
        held = next.join()
    }
}

/**
 * The usual code without a Java API: a coroutine for each future. On a dispatcher with its own threads the permit may
 * be free by the time the coroutine runs; most of the measured time is then that of the two thread switches.
 */
private class FutureFace(dispatcher: CoroutineDispatcher) : FacadeBenchmark.Face {
    private val scope = CoroutineScope(dispatcher)
    private val semaphore = KotlinxSemaphore(1)

    override fun acquire() {
        scope.future { semaphore.acquire() }.join()
    }

    override fun release() = semaphore.release()

    override fun passOn() {
        val next = scope.future { semaphore.acquire() }
        checkWaits(next)
        semaphore.release()
        next.join()
    }
}

/** IBM's library, whose semaphore gives futures as well. */
private class AsyncutilFace : FacadeBenchmark.Face {
    private val semaphore = FairAsyncSemaphore(1)

    override fun acquire() {
        semaphore.acquire().toCompletableFuture().join()
    }

    override fun release() = semaphore.release()

    override fun passOn() {
        val next = semaphore.acquire().toCompletableFuture()
        checkWaits(next)
        semaphore.release()
        next.join()
    }
}

private class JucFace : FacadeBenchmark.Face {
    private val semaphore = JucSemaphore(1, true)
    private lateinit var threads: ExecutorService

    override fun prepareToWait() {
        threads = virtualThreads()
    }

    override fun acquire() = semaphore.acquire()

    override fun release() = semaphore.release()

    override fun passOn() {
        val next = CompletableFuture.runAsync(semaphore::acquire, threads)
        while (!semaphore.hasQueuedThreads()) Thread.onSpinWait()
        semaphore.release()
        next.join()
    }

    override fun close() {
        threads.shutdown()
    }
}

private fun checkWaits(future: CompletableFuture<*>) {
    check(!future.isDone) { "did not have to wait" }
}
