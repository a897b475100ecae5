package baton.benchmarks

import baton.sync.ReadWriteLock as BatonReadWriteLock
import java.util.concurrent.locks.Lock
import java.util.concurrent.locks.ReadWriteLock
import java.util.concurrent.locks.ReentrantReadWriteLock
import java.util.concurrent.locks.StampedLock

/** The read and the write gate of one lock. For a lock without readers both are the same. */
class ReadWriteGates(val read: Gate, val write: Gate)

fun readWriteGates(impl: String): ReadWriteGates =
    when (impl) {
        "baton" -> BatonReadWriteLock().let { ReadWriteGates(BatonReadGate(it), BatonWriteGate(it)) }
        "kotlinx" -> mutexGate("kotlinx").let { ReadWriteGates(it, it) }
        "juc" -> gates(ReentrantReadWriteLock())
        "juc-fair-virtual" -> gates(ReentrantReadWriteLock(true))
        "stamped" -> gates(StampedLock().asReadWriteLock())
        else -> throw IllegalArgumentException("impl = $impl")
    }

private fun gates(lock: ReadWriteLock) =
    ReadWriteGates(JucReadWriteGate(lock.readLock()), JucReadWriteGate(lock.writeLock()))

private class BatonReadGate(private val lock: BatonReadWriteLock) : Gate {
    override suspend fun acquire() = lock.lockRead()

    override fun tryAcquire(): Boolean = lock.tryLockRead()

    override fun release() = lock.unlockRead()
}

private class BatonWriteGate(private val lock: BatonReadWriteLock) : Gate {
    override suspend fun acquire() = lock.lockWrite()

    override fun tryAcquire(): Boolean = lock.tryLockWrite()

    override fun release() = lock.unlockWrite()
}

private class JucReadWriteGate(private val lock: Lock) : Gate {
    override suspend fun acquire() = lock.lock()

    override fun tryAcquire(): Boolean = lock.tryLock()

    override fun release() = lock.unlock()
}
