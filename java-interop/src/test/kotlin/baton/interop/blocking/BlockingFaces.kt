package baton.interop.blocking

import baton.Priority
import baton.channels.ChannelClosedException
import baton.channels.contract.ChannelFace
import baton.channels.contract.ChannelPlan
import baton.channels.contract.KotlinChannelFace
import baton.channels.contract.PlaceFace
import baton.interop.AsyncBarrier
import baton.interop.AsyncChannel
import baton.interop.AsyncLatch
import baton.interop.AsyncMutex
import baton.interop.AsyncReadWriteLock
import baton.interop.AsyncSemaphore
import baton.interop.AsyncWaitGroup
import baton.interop.Held
import baton.interop.JavaBarrierFace
import baton.interop.JavaChannelFace
import baton.interop.JavaLatchFace
import baton.interop.JavaPlace
import baton.interop.JavaWaitGroupFace
import baton.interop.Permit
import baton.priority
import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.barrier.BarrierFace
import baton.sync.barrier.KotlinBarrierFace
import baton.sync.countdown.CountdownFace
import baton.sync.countdown.SelectLatchFace
import baton.sync.countdown.SelectWaitGroupFace
import baton.sync.countdown.WaitGroupFace
import baton.sync.countdown.waitGroup
import baton.sync.mutex.MutexFace
import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.ReadWriteLockFace
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFace
import kotlin.time.Duration
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.runBlocking

// The blocking views as the contracts use them. Idle waiters of a semaphore are coroutines here: it does not count
// them. The timeouts are those of BlockingTimeoutTest, in real time.

/** Cycles through the faces; null stands for the blocking view. Threads wait for the others in `runBlocking`. */
internal class Turns<T : Any>(isMixed: Boolean, vararg others: T) {
    private val faces = if (isMixed) listOf(null, *others) else listOf(null)
    private var turn = 0

    fun next(): T? = faces[turn++ % faces.size]
}

internal class BlockingSemaphoreFace(private val semaphore: Semaphore) :
    SemaphoreFace by KotlinSemaphoreFace(semaphore) {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    private val blocking = AsyncSemaphore.of(semaphore).blocking()
    private val calls = ThreadCalls(semaphore::waiting)
    private val held = Held<Int, Permit>()

    override suspend fun acquire(permits: Int) {
        val level = currentCoroutineContext().priority
        val permit =
            calls.call(undo = { calls.step(it::close) }) {
                if (level == null) blocking.acquire(permits) else blocking.acquire(permits, level)
            }
        held.add(permits, permit)
    }

    override fun tryAcquire(permits: Int): Boolean {
        val permit = blocking.tryAcquire(permits)
        permit.ifPresent { held.add(permits, it) }
        return permit.isPresent
    }

    override fun release(permits: Int) = calls.step { if (!held.close { it == permits }) semaphore.release(permits) }

    override fun resize(permits: Int) = calls.step { semaphore.resize(permits) }

    override fun close(cause: Throwable?) = calls.step { semaphore.close(cause) }

    override fun toString() = blocking.toString()
}

/** Each thread that locks is an owner; the contract unlocks in its name. */
internal class BlockingMutexFace(private val mutex: Mutex) : MutexFace {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    private val blocking = AsyncMutex.of(mutex).blocking()
    private val calls = ThreadCalls(mutex::waiting)

    override val isLocked: Boolean
        get() = mutex.isLocked

    override val holder: Any?
        get() = mutex.holder.takeUnless { it is Thread }

    override val waiting: Int
        get() = mutex.waiting

    override suspend fun lock(owner: Any?) = calls.call(undo = { unlock(null) }) { blocking.lockInterruptibly() }

    override fun tryLock(owner: Any?) = Threads.call(blocking::tryLock)

    override suspend fun tryLock(timeout: Duration, owner: Any?): Boolean =
        throw UnsupportedOperationException("in real time")

    override fun unlock(owner: Any?) = calls.step { mutex.unlock(mutex.holder) }

    override fun toString() = blocking.toString()
}

/**
 * A thread that locks without an owner is the owner; the contract unlocks in its name. The view has neither other
 * owners nor upgradable reads: threads wait for those in `runBlocking`.
 */
internal class BlockingReadWriteLockFace(private val lock: ReadWriteLock) :
    ReadWriteLockFace by KotlinReadWriteLockFace(lock) {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    private val blocking = AsyncReadWriteLock.of(lock).blocking()
    private val calls = ThreadCalls(lock::waiting)

    override val writeHolder: Any?
        get() = lock.writeHolder.takeUnless { it is Thread }

    override val readHolders: List<Any>
        get() = lock.readHolders.filter { it !is Thread }

    private fun reader(owner: Any?) = owner ?: lock.readHolders.find { it is Thread }

    private fun writer(owner: Any?) = owner ?: lock.writeHolder.takeIf { it is Thread }

    override suspend fun lockRead(owner: Any?) =
        calls.call(undo = { unlockRead(owner) }) {
            if (owner == null) blocking.readLock().lockInterruptibly() else runBlocking { lock.lockRead(owner) }
        }

    override fun tryLockRead(owner: Any?) =
        if (owner == null) Threads.call(blocking.readLock()::tryLock) else lock.tryLockRead(owner)

    override fun unlockRead(owner: Any?) = calls.step { lock.unlockRead(reader(owner)) }

    override suspend fun lockWrite(owner: Any?) =
        calls.call(undo = { unlockWrite(owner) }) {
            if (owner == null) blocking.writeLock().lockInterruptibly() else runBlocking { lock.lockWrite(owner) }
        }

    override fun tryLockWrite(owner: Any?) =
        if (owner == null) Threads.call(blocking.writeLock()::tryLock) else lock.tryLockWrite(owner)

    override fun unlockWrite(owner: Any?) = calls.step { lock.unlockWrite(writer(owner)) }

    override fun downgrade(owner: Any?) = calls.step { lock.downgrade(writer(owner)) }

    override suspend fun lockUpgradable(owner: Any?) =
        calls.call(undo = { unlockUpgradable(owner) }) { runBlocking { lock.lockUpgradable(owner) } }

    override fun unlockUpgradable(owner: Any?) = calls.step { lock.unlockUpgradable(owner) }

    override suspend fun upgrade(owner: Any?) = calls.call(undo = null) { runBlocking { lock.upgrade(owner) } }

    override fun toString() = blocking.toString()
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
