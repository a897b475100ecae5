package baton.waiting

import baton.waiting.threads.Timeouts
import java.util.concurrent.ScheduledThreadPoolExecutor
import java.util.concurrent.atomic.AtomicReference

/** A system without a thread for one more timer. */
object NoTimerThread {
    private val timer: ScheduledThreadPoolExecutor
        get() {
            val field = Timeouts::class.java.getDeclaredField("ourTimer")
            field.isAccessible = true
            val pool = field.get(null) as AtomicReference<*>
            if (pool.get() == null) Timeouts.schedule(1) {}.dispose() // The first timer makes the pool.
            return pool.get() as ScheduledThreadPoolExecutor
        }

    /** How many timers are set. */
    val queued: Int
        get() = timer.queue.size

    /** Runs [block]; each timer that it sets fails meanwhile, and so do those of other threads. */
    inline fun <T> during(block: () -> T): T {
        val restore = begin()
        try {
            return block()
        } finally {
            restore()
        }
    }

    fun begin(): () -> Unit {
        val pool = timer
        val factory = pool.threadFactory
        val size = pool.corePoolSize
        pool.setThreadFactory { throw OutOfMemoryError("unable to create native thread") }
        try {
            pool.corePoolSize = 1_000 // each timer needs a thread of its own
        } catch (_: OutOfMemoryError) {
            // It has the new size, but no thread for the timers of other tests.
        }
        return {
            pool.threadFactory = factory
            pool.corePoolSize = size
        }
    }
}
