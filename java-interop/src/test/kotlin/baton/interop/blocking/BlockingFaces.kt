package baton.interop.blocking

import baton.Priority
import baton.callBlockingOfAnyKotlinx as runBlocking
import baton.channels.ChannelClosedException
import baton.channels.contract.ChannelFace
import baton.channels.contract.ChannelPlan
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.PlaceFace
import baton.interop.AsyncBarrier
import baton.interop.AsyncChannel
import baton.interop.AsyncLatch
import baton.interop.AsyncWaitGroup
import baton.interop.JavaBarrierFace
import baton.interop.JavaChannelFace
import baton.interop.JavaLatchFace
import baton.interop.JavaPlace
import baton.interop.JavaWaitGroupFace
import baton.priority
import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.barrier.BarrierFace
import baton.sync.barrier.KotlinBarrierFace
import baton.sync.countdown.CountdownFace
import baton.sync.countdown.SelectLatchFace
import baton.sync.countdown.SelectWaitGroupFace
import baton.sync.countdown.WaitGroupFace
import baton.sync.countdown.waitGroup
import kotlinx.coroutines.currentCoroutineContext

// The blocking views as the contracts use them. Idle waiters of a semaphore are coroutines here: it does not count
// them. The timeouts are those of BlockingTimeoutTest, in real time.

/** Cycles through the faces; null stands for the blocking view. Threads wait for the others in `runBlocking`. */
internal class Turns<T : Any>(isMixed: Boolean, vararg others: T) {
    private val faces = if (isMixed) listOf(null, *others) else listOf(null)
    private var turn = 0

    fun next(): T? = faces[turn++ % faces.size]
}

internal class BlockingBarrierFace(private val barrier: Barrier, isMixed: Boolean = false) :
    BarrierFace by KotlinBarrierFace(barrier) {
    constructor(
        parties: Int,
        onCancel: BarrierCancellation,
        name: String?,
        action: (suspend () -> Unit)?,
    ) : this(Barrier(parties, onCancel, name, action))

    private val async = AsyncBarrier.of(barrier)
    private val blocking = async.blocking()
    private val calls = ThreadCalls(barrier::waiting)
    private val others = Turns(isMixed, JavaBarrierFace(async), KotlinBarrierFace(barrier))

    override suspend fun arrive(): Int {
        val other = others.next()
        return calls.call(undo = {}) { if (other == null) blocking.arrive() else runBlocking { other.arrive() } }
    }

    override fun abort(cause: Throwable?) = calls.step { barrier.abort(cause) }

    override fun reset() = calls.step { barrier.reset() }

    override fun toString() = blocking.toString()
}

internal class BlockingLatchFace(private val latch: AsyncLatch, isMixed: Boolean = false) :
    CountdownFace by JavaLatchFace(latch) {
    constructor(count: Int, name: String?) : this(AsyncLatch.create(count, name))

    private val calls = ThreadCalls(latch::waiting)
    private val others = Turns(isMixed, JavaLatchFace(latch), SelectLatchFace(latch.kotlin()))

    override fun down() = calls.step(latch::countDown)

    override suspend fun await() {
        val other = others.next()
        calls.call(undo = {}) { if (other == null) latch.blocking().await() else runBlocking { other.await() } }
    }

    override fun toString() = latch.blocking().toString()
}

internal class BlockingWaitGroupFace(private val group: AsyncWaitGroup, isMixed: Boolean = false) :
    WaitGroupFace by JavaWaitGroupFace(group) {
    constructor(count: Int, name: String?) : this(AsyncWaitGroup.of(waitGroup(count, name)))

    private val calls = ThreadCalls(group::waiting)
    private val others = Turns(isMixed, JavaWaitGroupFace(group), SelectWaitGroupFace(group.kotlin()))

    override fun down() = calls.step(group::done)

    override suspend fun await() {
        val other = others.next()
        calls.call(undo = {}) { if (other == null) group.blocking().await() else runBlocking { other.await() } }
    }

    override fun toString() = group.blocking().toString()
}

internal class BlockingChannelFace(private val channel: AsyncChannel<String>, isMixed: Boolean = false) :
    ChannelFace by JavaChannelFace(channel) {
    constructor(plan: ChannelPlan) : this(AsyncChannel.of(plan.build()))

    private val blocking = channel.blocking()
    private val calls = ThreadCalls(channel::waiting)
    private val others = Turns(isMixed, JavaChannelFace(channel), KotlinChannelFace(channel.kotlin()))

    private suspend fun levelOr(priority: Priority?) = priority ?: currentCoroutineContext().priority

    override suspend fun send(element: String, priority: Priority?) {
        val level = levelOr(priority)
        val other = others.next()
        calls.call(undo = null) {
            if (other != null) runBlocking { other.send(element, level) }
            else if (level == null) blocking.send(element) else blocking.send(element, level)
        }
    }

    override fun trySend(element: String, priority: Priority?) =
        calls.step { if (priority == null) blocking.trySend(element) else channel.trySend(element, priority) }

    override suspend fun receive(): String {
        val other = others.next()
        return calls.call(undo = null) { if (other == null) blocking.receive() else runBlocking { other.receive() } }
    }

    override suspend fun receiveOrNull(): String? =
        try {
            receive()
        } catch (_: ChannelClosedException) {
            null
        }

    override suspend fun receiveUpTo(limit: Int): List<String> {
        val other = others.next()
        return calls.call(undo = null) {
            if (other == null) blocking.receiveUpTo(limit) else runBlocking { other.receiveUpTo(limit) }
        }
    }

    override fun tryReceive(): String? = calls.step { blocking.tryReceive().orElse(null) }

    override suspend fun reserve(): PlaceFace {
        val level = levelOr(null)
        val place =
            calls.call(undo = { calls.step(it::close) }) {
                if (level == null) blocking.reserve() else blocking.reserve(level)
            }
        val face = JavaPlace(place)
        return object : PlaceFace by face {
            override fun send(element: String, priority: Priority?) = calls.step { face.send(element, priority) }

            override fun close() = calls.step(face::close)

            override fun toString() = face.toString()
        }
    }

    override fun resize(capacity: Int) = calls.step { channel.resize(capacity) }

    override fun close(cause: Throwable?) =
        calls.step { if (cause == null) channel.kotlin().close() else channel.close(cause) }

    override fun cancel(cause: Throwable?) =
        calls.step { if (cause == null) channel.cancel() else channel.cancel(cause) }

    override fun toString() = blocking.toString()
}
