package baton.interop.blocking

import java.util.concurrent.Executor
import java.util.concurrent.FutureTask
import java.util.concurrent.ThreadFactory

/** Virtual threads where the JDK has them, and platform threads in turn. */
internal object Threads : Executor {
    private val platform = ThreadFactory { command -> Thread(command).apply { isDaemon = true } }

    private val virtual: ThreadFactory? =
        try {
            val builder = Thread::class.java.getMethod("ofVirtual").invoke(null)
            Class.forName("java.lang.Thread\$Builder").getMethod("factory").invoke(builder) as ThreadFactory
        } catch (_: NoSuchMethodException) {
            null
        }

    private var count = 0

    fun unstarted(command: Runnable): Thread =
        (if (virtual != null && count++ % 2 == 0) virtual else platform).newThread(command)

    override fun execute(command: Runnable) = unstarted(command).start()

    /** Returns what [block] returns in a thread of its own. */
    fun <T> call(block: () -> T): T = FutureTask(block).also { unstarted(it).start() }.get()
}
