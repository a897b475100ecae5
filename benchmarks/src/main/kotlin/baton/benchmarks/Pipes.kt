package baton.benchmarks

import baton.channels.Channel as BatonChannel
import java.util.concurrent.ArrayBlockingQueue
import java.util.concurrent.BlockingQueue
import java.util.concurrent.Callable
import java.util.concurrent.SynchronousQueue
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.Channel as KotlinxChannel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.selects.select

/** Senders that pass elements to receivers through one channel. */
interface Pipe : AutoCloseable {
    /** Passes [elements] in all; all senders send equally many, and all receivers receive equally many. */
    fun pass(elements: Int)

    override fun close() {}
}

fun pipe(impl: String, senders: Int, receivers: Int, capacity: Int): Pipe =
    when (impl) {
        "baton" -> BatonPipe(senders, receivers, capacity)
        "kotlinx" -> KotlinxPipe(senders, receivers, capacity)
        "juc" -> ThreadPipe(senders, receivers, if (capacity == 0) SynchronousQueue() else ArrayBlockingQueue(capacity))
        else -> throw IllegalArgumentException("impl = $impl")
    }

private class BatonPipe(private val senders: Int, private val receivers: Int, capacity: Int) : Pipe {
    private val channel = BatonChannel<Any>(capacity)

    override fun pass(elements: Int) =
        passing(elements, senders, receivers, { channel.send(ELEMENT) }, { channel.receive() })
}

private class KotlinxPipe(private val senders: Int, private val receivers: Int, capacity: Int) : Pipe {
    private val channel = KotlinxChannel<Any>(capacity)

    override fun pass(elements: Int) =
        passing(elements, senders, receivers, { channel.send(ELEMENT) }, { channel.receive() })
}

private inline fun passing(
    elements: Int,
    senders: Int,
    receivers: Int,
    crossinline send: suspend () -> Unit,
    crossinline receive: suspend () -> Unit,
) {
    runBlocking {
        repeat(receivers) { launch(Dispatchers.Default) { repeat(elements / receivers) { receive() } } }
        repeat(senders) { launch(Dispatchers.Default) { repeat(elements / senders) { send() } } }
    }
}

private class ThreadPipe(private val senders: Int, private val receivers: Int, private val queue: BlockingQueue<Any>) :
    Pipe {
    private val threads = virtualThreads()

    override fun pass(elements: Int) {
        val receiver = Callable { repeat(elements / receivers) { queue.take() } }
        val sender = Callable { repeat(elements / senders) { queue.put(ELEMENT) } }
        threads.invokeAll(List(receivers) { receiver } + List(senders) { sender }).forEach { it.get() }
    }

    override fun close() {
        threads.shutdown()
    }
}

/** One receiver that selects over two channels, each with a sender. */
interface Fork {
    fun pass(elements: Int)
}

fun fork(impl: String): Fork =
    when (impl) {
        "baton" -> BatonFork()
        "kotlinx" -> KotlinxFork()
        else -> throw IllegalArgumentException("impl = $impl")
    }

private class BatonFork : Fork {
    private val left = BatonChannel<Any>()
    private val right = BatonChannel<Any>()

    override fun pass(elements: Int) =
        selecting(elements, { left.send(ELEMENT) }, { right.send(ELEMENT) }) {
            select {
                left.onReceive {}
                right.onReceive {}
            }
        }
}

private class KotlinxFork : Fork {
    private val left = KotlinxChannel<Any>()
    private val right = KotlinxChannel<Any>()

    override fun pass(elements: Int) =
        selecting(elements, { left.send(ELEMENT) }, { right.send(ELEMENT) }) {
            select {
                left.onReceive {}
                right.onReceive {}
            }
        }
}

private inline fun selecting(
    elements: Int,
    crossinline sendLeft: suspend () -> Unit,
    crossinline sendRight: suspend () -> Unit,
    crossinline receive: suspend () -> Unit,
) {
    runBlocking {
        launch(Dispatchers.Default) { repeat(elements) { receive() } }
        launch(Dispatchers.Default) { repeat(elements / 2) { sendLeft() } }
        launch(Dispatchers.Default) { repeat(elements / 2) { sendRight() } }
    }
}

private val ELEMENT = Any()
