package baton

/** Adds to [reported] the exceptions that this thread's handler of uncaught exceptions gets during [block]. */
inline fun reportingTo(reported: MutableList<Throwable>, block: () -> Unit) = reportingTo({ reported += it }, block)

/** Calls [report] with the exceptions that this thread's handler of uncaught exceptions gets during [block]. */
inline fun reportingTo(crossinline report: (Throwable) -> Unit, block: () -> Unit) {
    val thread = Thread.currentThread()
    val before = thread.uncaughtExceptionHandler
    thread.setUncaughtExceptionHandler { _, e -> report(e) }
    try {
        block()
    } finally {
        thread.uncaughtExceptionHandler = before
    }
}
