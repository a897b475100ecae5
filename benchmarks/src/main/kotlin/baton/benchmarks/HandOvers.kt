package baton.benchmarks

import baton.channels.Channel as BatonChannel
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart.UNDISPATCHED
import kotlinx.coroutines.Job
import kotlinx.coroutines.Runnable
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.launch

/** Hands an element to a receiver that is cancelled after the hand-over and before it runs. */
abstract class HandOver {
    private val later = Later()

    /** Returns whether another receiver could still receive the element. */
    fun toOneThatIsCancelled(): Boolean {
        val job = Job()
        CoroutineScope(later + job).launch(start = UNDISPATCHED) { receive() }
        send()
        job.cancel()
        later.run()
        return tryReceive()
    }

    protected abstract fun send()

    protected abstract suspend fun receive()

    protected abstract fun tryReceive(): Boolean

    private class Later : CoroutineDispatcher() {
        private val queue = ArrayDeque<Runnable>()

        override fun dispatch(context: CoroutineContext, block: Runnable) {
            queue.addLast(block)
        }

        fun run() {
            while (true) (queue.removeFirstOrNull() ?: return).run()
        }
    }
}

fun handOver(impl: String): HandOver =
    when (impl) {
        "baton" -> BatonHandOver()
        "kotlinx" -> KotlinxHandOver()
        else -> throw IllegalArgumentException("impl = $impl")
    }

private class BatonHandOver : HandOver() {
    private val channel = BatonChannel<Any>(1)

    override fun send() {
        channel.trySend(ELEMENT)
    }

    override suspend fun receive() {
        channel.receive()
    }

    override fun tryReceive() = channel.tryReceive().isSuccess
}

private class KotlinxHandOver : HandOver() {
    private val channel: KotlinxChannel<Any> = KotlinxChannel(1, onUndeliveredElement = { sendAgain(it) })

    private fun sendAgain(element: Any) {
        channel.trySend(element)
    }

    override fun send() {
        channel.trySend(ELEMENT)
    }

    override suspend fun receive() {
        channel.receive()
    }

    override fun tryReceive() = channel.tryReceive().isSuccess
}

private val ELEMENT = Any()
