package baton.parallel.core

/**
 * Starts workers one after another, where a dispatcher runs them in place. A worker that runs inside [start], on the
 * thread of that call, and starts another one only adds it to this queue. The call starts it when the worker before it
 * has suspended or ended. So the stack stays flat, and each worker calls its transform before the next one is started.
 *
 * Confined to the thread that is inside [start], once in the life of a queue: for all other threads [isHere] is false.
 */
internal class StartQueue<W : Any>(private val launch: (W) -> Unit) {
    private var thread: Thread? = null
    private var next = ArrayList<W>(1)

    /** Whether the calling thread is inside [start]. Only that thread has stored itself, so it needs no barrier. */
    val isHere: Boolean
        get() = thread === Thread.currentThread()

    fun start(worker: W) {
        next.add(worker)
        if (isHere) return
        thread = Thread.currentThread()
        var failure: Throwable? = null
        while (next.isNotEmpty()) {
            val batch = next
            next = ArrayList(1)
            for (each in batch) {
                try {
                    launch(each)
                } catch (e: Throwable) {
                    if (failure == null) failure = e
                }
            }
        }
        thread = null
        if (failure != null) throw failure
    }
}
