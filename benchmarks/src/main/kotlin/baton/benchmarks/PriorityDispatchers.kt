package baton.benchmarks

import baton.Priority
import baton.PriorityElement
import baton.scheduler.prioritized
import java.util.concurrent.PriorityBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicLong
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers

/** A dispatcher with at most `parallelism` threads, Baton's or a peer's; Baton's and pbq have levels. */
fun dispatcher(impl: String, parallelism: Int): CoroutineDispatcher =
    when (impl) {
        "baton" -> Dispatchers.Default.prioritized(parallelism)
        "limited" -> Dispatchers.Default.limitedParallelism(parallelism)
        "default" -> Dispatchers.Default
        "pbq" -> PriorityBlockingQueueDispatcher(parallelism)
        else -> throw IllegalArgumentException("impl = $impl")
    }

/** The usual construction: a thread pool whose queue is a heap. First come, first served inside a level, too. */
class PriorityBlockingQueueDispatcher(threads: Int) : CoroutineDispatcher(), AutoCloseable {
    private class Entry(private val level: Int, private val number: Long, private val block: Runnable) :
        Comparable<Entry>, Runnable by block {
        override fun compareTo(other: Entry): Int =
            if (level != other.level) level.compareTo(other.level) else number.compareTo(other.number)
    }

    private val numbers = AtomicLong()
    private val pool =
        ThreadPoolExecutor(threads, threads, 0, TimeUnit.SECONDS, PriorityBlockingQueue()) { work ->
            Thread(work).apply { isDaemon = true }
        }

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        val level = context[PriorityElement]?.level ?: Priority.NORMAL
        pool.execute(Entry(level.ordinal, numbers.getAndIncrement(), block))
    }

    override fun close() {
        pool.shutdownNow()
    }
}
