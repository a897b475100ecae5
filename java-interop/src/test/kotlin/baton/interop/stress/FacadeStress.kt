package baton.interop.stress

import baton.interop.AsyncSemaphore
import baton.interop.Futures
import baton.interop.Permit
import baton.sync.Semaphore
import baton.sync.WaitOrder
import java.time.Duration
import java.util.SplittableRandom
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CompletionStage
import java.util.concurrent.ForkJoinPool
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicLong
import kotlin.time.Duration.Companion.microseconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.yield

/** Threads and coroutines that request permits of one semaphore. */
internal class FacadeStress(private val permits: Int, order: WaitOrder, seed: Long) : FacadeRun(seed) {
    private val semaphore = AsyncSemaphore.of(Semaphore(permits, 0, order, "stress"))
    private val inside = AtomicInteger()
    private val granted = AtomicLong()

    override fun toString() = "inside = $inside: $semaphore"

    override fun call(number: Int, random: SplittableRandom) {
        if (number % 2 == 0) callAsFuture(random) else callAsCoroutine(random)
    }

    override fun end() {
        Futures.await(semaphore.awaitIdle())
        check(inside.get() == 0 && semaphore.waiting() == 0 && semaphore.availablePermits() == permits)
        check(semaphore.acquire(permits).isDone)
        check(granted.get() > 0)
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
                // The callback and the thread that ends the future get the same permit, which is closed once.
                if (random.nextInt(4) == 0) future.thenAccept { it?.close() } else end(future, random, n)
            }
        }
    }

    private fun end(future: CompletableFuture<Permit>, random: SplittableRandom, n: Int) {
        interfere(future, random)
        finish(future, n)
    }

    private fun finish(future: CompletableFuture<Permit>, n: Int) {
        use(outcome(future), n)
    }

    private fun guarded(n: Int, random: SplittableRandom) {
        val later = random.nextInt(2) == 0
        val action = {
            enter(n)
            val source = CompletableFuture<Permit>()
            if (later) source.completeAsync { null } else source.complete(null)
            // The stage cannot be cancelled, so leave() has run once its end is visible.
            source.whenComplete { _, _ -> leave(n) }.minimalCompletionStage()
        }
        val call = if (random.nextInt(2) == 0) semaphore.withPermits(n, action) else one(action, n)
        end(call, random, n)
    }

    /** With an executor there is only the overload for one permit. */
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
