package baton.interop.blocking

import java.util.concurrent.ThreadFactory

/** Virtual threads where the JDK has them, and platform threads in turn. */
internal object Threads {
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
}
