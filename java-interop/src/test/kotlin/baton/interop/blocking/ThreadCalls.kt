package baton.interop.blocking

import java.util.concurrent.CountDownLatch
import java.util.concurrent.Executor
import java.util.concurrent.TimeUnit
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/**
 * Blocking calls as the contracts use them: each in a thread of its own, behind a coroutine that waits for it. To
 * cancel the coroutine interrupts the thread.
 *
 * A contract looks at the state right after each step. So each step ends when the threads have gone as far as they can:
 * those that the primitive counts as [waiting] are parked, all others have returned. Threads that return in one step do
 * so at the same time; their coroutines are resumed in the order of their calls.
 */
internal class ThreadCalls(private val waiting: () -> Int) {
    private val calls = mutableListOf<Call<*>>()

    /**
     * Returns what [block] returns. If the coroutine was cancelled before it ran, passes that to [undo] and throws, or
     * returns it all the same if there is none. A thread that goes on after its interrupt, to lock a mutex again, ends
     * first.
     */
    suspend fun <T> call(undo: ((T) -> Unit)?, worker: Executor = Threads, block: () -> T): T {
        val call = Call(undo ?: {}, worker, block)
        call.start()
        if (call.hasEnded) {
            settle()
            return call.result.getOrThrow()
        }
        try {
            return suspendCancellableCoroutine { caller ->
                call.caller = caller
                calls += call
                settle()
                caller.invokeOnCancellation { call.cancel() }
            }
        } catch (e: CancellationException) {
            withContext(NonCancellable) { call.settled.join() }
            if (undo == null && call.result.isSuccess) return call.result.getOrThrow()
            throw e
        }
    }

    /** Does [step] and lets the threads go on that do not wait any more. */
    fun <T> step(step: () -> T): T = step().also { settle() }

    fun settle() {
        await("not as many threads inside as wait") { calls.count { !it.hasEnded } == waiting() }
        val ended = calls.filter { it.hasEnded }
        calls -= ended
        ended.forEach { it.resumeCaller() }
    }

    fun await(failure: String, condition: () -> Boolean) {
        val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT)
        while (!condition()) {
            check(System.nanoTime() < deadline) { "$failure: inside = ${calls.size}, waiting = ${waiting()}" }
            Thread.yield()
        }
    }

    private inner class Call<T>(
        private val undo: (T) -> Unit,
        private val worker: Executor,
        private val block: () -> T,
    ) {
        private val end = CountDownLatch(1)
        @Volatile private var thread: Thread? = null
        private var outcome: Result<T>? = null

        val settled = Job()

        var caller: CancellableContinuation<T>? = null

        val hasEnded: Boolean
            get() = end.count == 0L

        val result: Result<T>
            get() = outcome!!

        private fun run() {
            thread = Thread.currentThread()
            outcome = runCatching(block)
            end.countDown()
        }

        fun start() {
            worker.execute(::run)
            await("a call neither returns nor parks") { hasEnded || thread?.let { BlockedCall.isParked(it) } == true }
        }

        fun resumeCaller() {
            settled.complete()
            val waiting = caller!!
            @Suppress("DEPRECATION") // The newer overload is missing in kotlinx.coroutines 1.8.
            result.fold(
                { value -> waiting.resume(value) { _: Throwable -> undo(value) } },
                waiting::resumeWithException,
            )
        }

        fun cancel() {
            val waiter = thread!!
            if (this !in calls) return
            waiter.interrupt()
            await("an interrupted call neither ends nor parks again") {
                hasEnded || (!waiter.isInterrupted && BlockedCall.isParked(waiter))
            }
            settle()
        }
    }

    private companion object {
        const val LIMIT = 120L
    }
}
