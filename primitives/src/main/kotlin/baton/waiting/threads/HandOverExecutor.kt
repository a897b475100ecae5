package baton.waiting.threads

import baton.InternalBatonApi
import java.security.PrivilegedAction
import java.util.concurrent.Executor
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.ThreadPoolExecutor
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger

/**
 * Runs callbacks that must leave the thread that reached them: those that would deepen its stack without bound, and
 * those of timers. Users cannot submit to it, so only callbacks can fill it.
 * 1. Callbacks that return soon share [core] threads, however many are queued: a burst of timeouts starts no burst of
 *    threads.
 * 2. When the same callback has headed the queue for [STALL_MILLIS], all threads count as blocked, and their number
 *    doubles, up to one for each callback. So a blocked callback delays the others by a few times [STALL_MILLIS].
 * 3. The threads are daemons and end when they have been idle for [IDLE_MILLIS].
 *
 * `execute` throws only if the system has no thread left, and the callback never runs then: its caller runs it.
 */
@InternalBatonApi
public object HandOverExecutor : Executor {
    private const val STALL_MILLIS = 10L
    private const val IDLE_MILLIS = 1_000L
    private const val MOST_THREADS = 1 shl 20

    private val core = Runtime.getRuntime().availableProcessors()
    private val queue = LinkedBlockingQueue<Runnable>()
    private val threads = AtomicInteger()

    private val watch =
        object : StallWatch<Runnable>(STALL_MILLIS) {
            override fun progress(): Runnable? = queue.peek()

            /** Throws if no thread can be started: then the queue moves when a callback returns. */
            override fun onStall(progress: Runnable) {
                pool.corePoolSize = minOf(2 * maxOf(core, pool.poolSize), MOST_THREADS)
            }

            /** Threads that are blocked now do not count, so that they delay no later callback. */
            override fun onIdle() {
                pool.corePoolSize = minOf(core + pool.activeCount, MOST_THREADS)
            }
        }

    private val pool =
        ThreadPoolExecutor(core, MOST_THREADS, IDLE_MILLIS, TimeUnit.MILLISECONDS, queue) {
                daemon("baton-callbacks-${threads.incrementAndGet()}", it)
            }
            .apply { allowCoreThreadTimeOut(true) }

    override fun execute(callback: Runnable) {
        requireStack() // An overflow would leave the queue locked: its locks are those of the JDK.
        val queued = RunOnce { Trampoline.guarded { callback.run() } }
        try {
            pool.execute(queued)
        } catch (e: Throwable) {
            // ThreadPoolExecutor may have queued it before it failed to start a thread.
            if (queued.take()) throw e
        }
        if (!queue.isEmpty()) watch.begin()
    }

    /**
     * A daemon thread that inherits nothing of the thread that happens to start it: no inheritable thread locals, no
     * class loader, no priority and, before JDK 24, no protection domains of the callers on its stack, which would keep
     * their class loaders for as long as the thread lives.
     */
    @JvmStatic
    @Suppress("DEPRECATION") // for removal; from JDK 24 on it is not used
    public fun daemon(name: String, work: Runnable): Thread =
        if (Runtime.version().feature() >= 24) newDaemon(name, work)
        else java.security.AccessController.doPrivileged(PrivilegedAction { newDaemon(name, work) })

    private fun newDaemon(name: String, work: Runnable): Thread =
        Thread(null, work, name, 0, false).apply {
            isDaemon = true
            priority = Thread.NORM_PRIORITY
            contextClassLoader = ClassLoader.getSystemClassLoader()
        }
}
