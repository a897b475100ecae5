package baton.sync

import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Runnable

/** Keeps what it is given until the test runs it. For one thread. */
internal class LateDispatcher : CoroutineDispatcher() {
    private val queue = ArrayDeque<Runnable>()

    override fun dispatch(context: CoroutineContext, block: Runnable) {
        queue.addLast(block)
    }

    fun run() {
        while (true) (queue.removeFirstOrNull() ?: return).run()
    }
}
