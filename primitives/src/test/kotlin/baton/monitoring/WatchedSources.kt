package baton.monitoring

/** For tests whose monitors watch what nothing else refers to. */
abstract class WatchedSources {
    private val kept = ArrayList<Any>()

    /** Watches [source], and keeps it in memory until the test has ended: the monitor itself does not. */
    protected fun Monitor.watchKept(source: Monitored, name: String? = null): AutoCloseable =
        watch(source, name).also { kept += source }
}
