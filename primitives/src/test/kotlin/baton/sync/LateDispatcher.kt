package baton.sync

import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable

/** Keeps the dispatched blocks until the test runs them. For one thread. */
internal class LateDispatcher : CoroutineDispatcher() {
    private val queue = ArrayDeque<Runnable>()

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        queue.addLast(block)
    }

    fun run() {
        while (true) (queue.removeFirstOrNull() ?: return).run()
    }
}
