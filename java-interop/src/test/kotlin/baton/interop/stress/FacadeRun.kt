package baton.interop.stress

import java.util.SplittableRandom
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread

/** Threads that call one primitive and end their requests in every possible way, until stopped or stuck. */
internal abstract class FacadeRun(private val seed: Long) {
    private val attempts = AtomicLong()
    private val failure = AtomicReference<Throwable?>()

    /** One call by the thread with that number. An exception ends the run. */
    protected abstract fun call(number: Int, random: SplittableRandom)

    /** Called when all threads have ended: waits until nothing is held, and throws if something stays held. */
    protected abstract fun end()

    abstract override fun toString(): String

    /** Continues while [goOn] returns true for the number of attempts so far. Returns the number of attempts. */
    fun run(threads: Int, goOn: (Long) -> Boolean): Long {
        val before = Thread.getDefaultUncaughtExceptionHandler()
        Thread.setDefaultUncaughtExceptionHandler { _, e -> failure.compareAndSet(null, e) }
        try {
            return runGuarded(threads, goOn)
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before)
        }
    }

    private fun runGuarded(threads: Int, goOn: (Long) -> Boolean): Long {
        val workers =
            List(threads) { number ->
                thread(name = "stress-$number", isDaemon = true) {
                    val random = SplittableRandom(seed + number)
                    try {
                        while (failure.get() == null && goOn(attempts.get())) {
                            call(number, random)
                            attempts.incrementAndGet()
                        }
                    } catch (e: Throwable) {
                        failure.compareAndSet(null, e)
                    }
                }
            }
        watch(workers)
        failure.get()?.let { throw AssertionError("seed = $seed, after $attempts attempts: $this", it) }
        try {
            end()
        } catch (e: Throwable) {
            throw AssertionError("seed = $seed, at the end: $this", e)
        }
        failure.get()?.let { throw AssertionError("seed = $seed, on another thread", it) }
        return attempts.get()
    }

    /** Throws with the stacks of all threads if there is no progress for two minutes. */
    private fun watch(workers: List<Thread>) {
        var seen = -1L
        var since = System.nanoTime()
        for (worker in workers) {
            while (true) {
                worker.join(200)
                if (!worker.isAlive) break
                val now = attempts.get()
                if (now != seen) {
                    seen = now
                    since = System.nanoTime()
                } else if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(120)) {
                    val stacks =
                        Thread.getAllStackTraces().entries.joinToString("\n") { (thread, stack) ->
                            "$thread\n" + stack.joinToString("\n") { "    at $it" }
                        }
                    throw AssertionError("seed = $seed: no progress after $now attempts: $this\n$stacks")
                }
            }
        }
    }

    /** Ends [future] from outside in a random way, or leaves it as it is. */
    protected fun <T : Any> interfere(future: CompletableFuture<T>, random: SplittableRandom) {
        repeat(random.nextInt(100)) { Thread.onSpinWait() }
        when (random.nextInt(8)) {
            0,
            1 -> future.cancel(true)
            2 -> future.complete(null)
            3 -> future.completeExceptionally(CancellationException())
            4 -> future.orTimeout(random.nextLong(100_000), TimeUnit.NANOSECONDS)
            5 -> future.completeOnTimeout(null, random.nextLong(100_000), TimeUnit.NANOSECONDS)
            6 -> future.completeAsync { null }
        }
    }

    /** The value of [future]; null if it was cancelled, timed out or completed from outside. */
    protected fun <T : Any> outcome(future: CompletableFuture<T>): T? =
        try {
            future.join()
        } catch (_: CancellationException) {
            null
        } catch (e: CompletionException) {
            if (e.cause !is TimeoutException && e.cause !is CancellationException) throw e
            null
        }
}
