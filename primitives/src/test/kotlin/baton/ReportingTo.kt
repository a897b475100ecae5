package baton

/** Adds to [reported] the exceptions that this thread's handler of uncaught exceptions gets during [block]. */
inline fun reportingTo(reported: MutableList<Throwable>, block: () -> Unit) {
    val thread = Thread.currentThread()
    val before = thread.uncaughtExceptionHandler
    thread.setUncaughtExceptionHandler { _, e -> reported += e }
    try {
        block()
    } finally {
        thread.uncaughtExceptionHandler = before
    }
}
