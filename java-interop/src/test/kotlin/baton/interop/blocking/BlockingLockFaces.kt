package baton.interop.blocking

import baton.callBlockingOfAnyKotlinx as runBlocking
import baton.interop.AsyncMutex
import baton.interop.AsyncReadWriteLock
import baton.interop.AsyncSemaphore
import baton.interop.Held
import baton.interop.JavaMutexFace
import baton.interop.JavaReadWriteLockFace
import baton.interop.JavaSemaphoreFace
import baton.interop.Permit
import baton.priority
import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexFace
import baton.sync.readwrite.contract.KotlinReadWriteLockFace
import baton.sync.readwrite.contract.ReadWriteLockFace
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFace
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.time.Duration
import kotlinx.coroutines.currentCoroutineContext

internal class BlockingSemaphoreFace(private val semaphore: Semaphore, isMixed: Boolean = false) :
    SemaphoreFace by KotlinSemaphoreFace(semaphore) {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    private val async = AsyncSemaphore.of(semaphore)
    private val blocking = async.blocking()
    private val calls = ThreadCalls(semaphore::waiting)
    private val held = Held<Int, Permit>()
    private val others = Turns(isMixed, JavaSemaphoreFace(async), KotlinSemaphoreFace(semaphore))

    override suspend fun acquire(permits: Int) {
        val level = currentCoroutineContext().priority
        val other = others.next()
        if (other != null) {
            return calls.call(undo = { release(permits) }) {
                runBlocking(level ?: EmptyCoroutineContext) { other.acquire(permits) }
            }
        }
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
internal class BlockingMutexFace(private val mutex: Mutex, isMixed: Boolean = false) : MutexFace {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    private val async = AsyncMutex.of(mutex)
    private val blocking = async.blocking()
    private val calls = ThreadCalls(mutex::waiting)
    private val others = Turns(isMixed, JavaMutexFace(async), KotlinMutexFace(mutex))

    override val isLocked: Boolean
        get() = mutex.isLocked

    override val holder: Any?
        get() = mutex.holder.takeUnless { it is Thread }

    override val waiting: Int
        get() = mutex.waiting

    override suspend fun lock(owner: Any?) {
        val other = others.next()
        calls.call(undo = { unlock(null) }) {
            if (other == null) blocking.lockInterruptibly() else runBlocking { other.lock(owner) }
        }
    }

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
internal class BlockingReadWriteLockFace(private val lock: ReadWriteLock, isMixed: Boolean = false) :
    ReadWriteLockFace by KotlinReadWriteLockFace(lock) {
    constructor(policy: ReadWritePolicy, name: String?) : this(ReadWriteLock(policy, name))

    private val async = AsyncReadWriteLock.of(lock)
    private val blocking = async.blocking()
    private val calls = ThreadCalls(lock::waiting)
    private val others = Turns(isMixed, JavaReadWriteLockFace(async), KotlinReadWriteLockFace(lock))

    /** The face for a call: null for the blocking view, which has no owners but threads. */
    private fun next(owner: Any?) = others.next() ?: owner?.let { KotlinReadWriteLockFace(lock) }

    override val writeHolder: Any?
        get() = lock.writeHolder.takeUnless { it is Thread }

    override val readHolders: List<Any>
        get() = lock.readHolders.filter { it !is Thread }

    private fun reader(owner: Any?) = owner ?: lock.readHolders.find { it is Thread }

    private fun writer(owner: Any?) = owner ?: lock.writeHolder.takeIf { it is Thread }

    override suspend fun lockRead(owner: Any?) {
        val other = next(owner)
        calls.call(undo = { unlockRead(owner) }) {
            if (other == null) blocking.readLock().lockInterruptibly() else runBlocking { other.lockRead(owner) }
        }
    }

    override fun tryLockRead(owner: Any?) =
        if (owner == null) Threads.call(blocking.readLock()::tryLock) else lock.tryLockRead(owner)

    override fun unlockRead(owner: Any?) = calls.step { lock.unlockRead(reader(owner)) }

    override suspend fun lockWrite(owner: Any?) {
        val other = next(owner)
        calls.call(undo = { unlockWrite(owner) }) {
            if (other == null) blocking.writeLock().lockInterruptibly() else runBlocking { other.lockWrite(owner) }
        }
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
