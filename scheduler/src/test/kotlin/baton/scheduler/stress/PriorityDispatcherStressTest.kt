package baton.scheduler.stress

import baton.Priority
import baton.scheduler.prioritized
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.concurrent.atomic.AtomicIntegerArray
import kotlin.concurrent.thread
import kotlin.coroutines.CoroutineContext
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.random.Random
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.asCoroutineDispatcher
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Dispatches from several threads, while pools are shut down underlying the dispatcher: every block runs once. */
open class PriorityDispatcherStressTest {
    internal open val dispatches
        get() = 400_000

    /** Throws the exception of its pool; the dispatcher of kotlinx would handle it. */
    private class Strict(private val pool: ExecutorService) : CoroutineDispatcher() {
        override fun dispatch(context: CoroutineContext, block: Runnable) = pool.execute(block)
    }

    @Test fun dispatches_fromManyThreads_runOnceEach() = runs { it.asCoroutineDispatcher() to false }

    @Test fun dispatches_whilePoolsAreShutDown_runOnceEach() = runs { Strict(it) to true }

    @Test fun dispatches_whilePoolsOfKotlinxAreShutDown_runOnceEach() = runs { it.asCoroutineDispatcher() to true }

    private fun runs(over: (ExecutorService) -> Pair<CoroutineDispatcher, Boolean>) {
        val seed = Random.nextInt()
        val random = Random(seed)
        var left = dispatches / 3
        while (left > 0) {
            val round = minOf(left, random.nextInt(1, 40_000))
            round(over, round, random, "seed $seed, $left left")
            left -= round
        }
    }

    private fun round(
        over: (ExecutorService) -> Pair<CoroutineDispatcher, Boolean>,
        blocks: Int,
        random: Random,
        where: String,
    ) {
        val pool = Executors.newFixedThreadPool(2) { Thread(it).apply { isDaemon = true } }
        val (underlying, isShutDown) = over(pool)
        val parallelism = random.nextInt(1, 4)
        val prioritized = underlying.prioritized(parallelism, quantum = random.nextInt(1, 20))
        val views = listOf(prioritized, prioritized.limitedParallelism(1, "one"))
        val ran = AtomicIntegerArray(blocks)
        val done = CountDownLatch(blocks)
        val running = AtomicInteger()
        val inView = AtomicInteger()
        val failures = ConcurrentLinkedQueue<String>()
        val shutDownAt = if (isShutDown) random.nextInt(blocks) else -1
        val threads =
            List(2) { half ->
                thread {
                    for (number in half until blocks step 2) {
                        if (number == shutDownAt) pool.shutdown()
                        val isInView = number % 7 == 6
                        val door = views[if (isInView) 1 else 0].level(Priority.entries[number * 31 % 5])
                        door.dispatch(EmptyCoroutineContext) {
                            val now = running.incrementAndGet()
                            if (now > parallelism) failures += "$now at a time"
                            if (isInView && inView.incrementAndGet() > 1)
                                failures += "several at a time in a view of one"
                            ran.incrementAndGet(number)
                            if (isInView) inView.decrementAndGet()
                            running.decrementAndGet()
                            done.countDown()
                        }
                    }
                }
            }
        threads.forEach(Thread::join)
        val ended = done.await(120, TimeUnit.SECONDS)
        assertTrue(ended) { "$where: ${done.count} of $blocks never ran: ${prioritized.metrics}" }
        pool.shutdown()
        assertEquals(emptyList<String>(), failures.toList(), where)
        assertEquals(blocks, (0 until blocks).count { ran[it] == 1 }, where)
    }

    @Test
    fun dispatch_poolWasShutDownBefore_runsOnAnotherThread() {
        val pool = Executors.newSingleThreadExecutor().apply { shutdown() }
        val refusing = runCatching { pool.execute {} }.exceptionOrNull()
        assertTrue(refusing is RejectedExecutionException)
        for (underlying in listOf(Strict(pool), pool.asCoroutineDispatcher())) {
            val ran = CountDownLatch(1)
            underlying.prioritized(1).dispatch(EmptyCoroutineContext) { ran.countDown() }
            assertTrue(ran.await(120, TimeUnit.SECONDS))
        }
    }
}

class PriorityDispatcherStressDeepTest : PriorityDispatcherStressTest() {
    override val dispatches
        get() = 10_000_000
}
