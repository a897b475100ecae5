package baton.interop

import baton.sync.Semaphore
import baton.sync.WaitOrder
import java.time.Duration
import java.util.SplittableRandom
import java.util.concurrent.CancellationException
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionException
import java.util.concurrent.CompletionStage
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.TimeUnit
import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import java.util.concurrent.atomic.AtomicReference
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

/** Threads and coroutines that ask one semaphore for permits and change their minds in every way there is. */
internal class FacadeStress(private val permits: Int, order: WaitOrder, private val seed: Long) {
    private val semaphore = AsyncSemaphore.of(Semaphore(permits, 0, order, "stress"))
    private val inside = AtomicInteger()
    private val attempts = AtomicLong()
    private val granted = AtomicLong()
    private val failure = AtomicReference<Throwable?>()

    /** Goes on while [goOn] says so of the attempts made so far. Answers how many they were. */
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
                            if (number % 2 == 0) callAsFuture(random) else callAsCoroutine(random)
                            attempts.incrementAndGet()
                        }
                    } catch (e: Throwable) {
                        failure.compareAndSet(null, e)
                    }
                }
            }
        watch(workers)
        failure.get()?.let { throw AssertionError("seed = $seed, after $attempts attempts: $semaphore", it) }
        Futures.await(semaphore.awaitIdle())
        check(inside.get() == 0 && semaphore.waiting() == 0 && semaphore.availablePermits() == permits) {
            "seed = $seed, inside = $inside: $semaphore"
        }
        check(semaphore.acquire(permits).isDone) { "seed = $seed: $semaphore" }
        check(granted.get() > 0)
        failure.get()?.let { throw AssertionError("seed = $seed, on a thread of others", it) }
        return attempts.get()
    }

    /** Says where everybody stands when nothing has moved for 30 seconds. */
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
                } else if (System.nanoTime() - since > TimeUnit.SECONDS.toNanos(30)) {
                    val stacks =
                        Thread.getAllStackTraces().entries.joinToString("\n") { (thread, stack) ->
                            "$thread\n" + stack.joinToString("\n") { "    at $it" }
                        }
                    val state = "seed = $seed: no progress after $now attempts, inside = $inside: $semaphore"
                    throw AssertionError("$state\n$stacks")
                }
            }
        }
    }

    private fun enter(n: Int) {
        granted.incrementAndGet()
        val now = inside.addAndGet(n)
        check(now <= permits) { "$now inside of $permits" }
    }

    private fun leave(n: Int) {
        inside.addAndGet(-n)
    }

    private fun use(permit: Permit?, n: Int) {
        if (permit == null) return // completed from outside
        enter(n)
        leave(n)
        permit.close()
    }

    private fun callAsFuture(random: SplittableRandom) {
        val n = 1 + random.nextInt(permits)
        when (random.nextInt(10)) {
            0 -> finish(semaphore.acquire(n, Duration.ofNanos(random.nextLong(200_000))), n)
            1 -> guarded(n, random)
            2 -> semaphore.tryAcquire(n).ifPresent { use(it, n) }
            else -> {
                val future = semaphore.acquire(n)
                // The callback and the one who ends it meet in the same permit, which is closed once.
                if (random.nextInt(4) == 0) future.thenAccept { it?.close() } else end(future, random, n)
            }
        }
    }

    private fun end(future: CompletableFuture<Permit>, random: SplittableRandom, n: Int) {
        repeat(random.nextInt(100)) { Thread.onSpinWait() }
        when (random.nextInt(8)) {
            0, 1 -> future.cancel(true)
            2 -> future.complete(null)
            3 -> future.completeExceptionally(CancellationException())
            4 -> future.orTimeout(random.nextLong(100_000), TimeUnit.NANOSECONDS)
            5 -> future.completeOnTimeout(null, random.nextLong(100_000), TimeUnit.NANOSECONDS)
            6 -> future.completeAsync { null }
        }
        finish(future, n)
    }

    private fun finish(future: CompletableFuture<Permit>, n: Int) {
        val permit =
            try {
                future.join()
            } catch (_: CancellationException) {
                null
            } catch (e: CompletionException) {
                if (e.cause !is TimeoutException && e.cause !is CancellationException) throw e
                null
            }
        use(permit, n)
    }

    private fun guarded(n: Int, random: SplittableRandom) {
        val later = random.nextInt(2) == 0
        val action = {
            enter(n)
            val source = CompletableFuture<Permit>()
            if (later) source.completeAsync { null } else source.complete(null)
            // Nobody can cancel it: whoever hears of its end knows that leave() has run.
            source.whenComplete { _, _ -> leave(n) }.minimalCompletionStage()
        }
        val call = if (random.nextInt(2) == 0) semaphore.withPermits(n, action) else one(action, n)
        end(call, random, n)
    }

    /** With an executor there is only the form for one permit. */
    private fun one(action: () -> CompletionStage<Permit>, n: Int): CompletableFuture<Permit> =
        if (n == 1) semaphore.withPermit(action, ForkJoinPool.commonPool()) else semaphore.withPermits(n, action)

    private fun callAsCoroutine(random: SplittableRandom) {
        val n = 1 + random.nextInt(permits)
        val kotlin = semaphore.kotlin()
        val patience = random.nextInt(300)
        val start = if (patience % 2 == 0) CoroutineStart.DEFAULT else CoroutineStart.UNDISPATCHED
        runBlocking {
            val job =
                async(Dispatchers.Default, start) {
                    if (patience % 3 == 0) {
                        if (!kotlin.tryAcquire(n, patience.microseconds)) return@async
                    } else {
                        kotlin.acquire(n)
                    }
                    enter(n)
                    leave(n)
                    kotlin.release(n)
                }
            if (patience % 4 == 0) {
                yield()
                job.cancel()
            }
            job.join()
        }
    }
}
