package baton.hostile

import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.RejectedExecutionException
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration

/** A pool of one thread that rejects on demand, and is not shut down for that. */
class RefusingExecutor : ThreadPoolExecutor(1, 1, 1, TimeUnit.MINUTES, LinkedBlockingQueue()) {
    private val left = AtomicInteger()
    @Volatile private var until = System.nanoTime()

    /** Exceptions that its threads did not catch. */
    val uncaught = LinkedBlockingQueue<Throwable>()

    init {
        setThreadFactory { task ->
            Thread(task, "refusing").also { it.setUncaughtExceptionHandler { _, e -> uncaught += e } }
        }
    }

    /** How many tasks it has rejected. */
    val refused = AtomicInteger()

    /** Rejects the next tasks. */
    fun refuse(times: Int) = left.set(times)

    /** Rejects all tasks for so long. */
    fun refuse(time: Duration) {
        until = System.nanoTime() + time.inWholeNanoseconds
    }

    override fun execute(command: Runnable) {
        if (System.nanoTime() - until < 0 || left.getAndUpdate { maxOf(it - 1, 0) } > 0) {
            refused.incrementAndGet()
            throw RejectedExecutionException("refused")
        }
        super.execute(command)
    }
}
