package baton.benchmarks

import baton.sync.Mutex as BatonMutex
import baton.sync.Semaphore as BatonSemaphore
import baton.sync.WaitOrder
import java.util.concurrent.Semaphore as JucSemaphore
import java.util.concurrent.locks.ReentrantLock
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.sync.Mutex as KotlinxMutex
import kotlinx.coroutines.sync.Semaphore as KotlinxSemaphore
import kotlinx.coroutines.withTimeoutOrNull

/**
 * The interface of the compared locks: one acquire, one release. Unless it is polluted (see [Pollution]), a fork uses
 * one implementation, so the calls through this interface are monomorphic and are inlined. The adapters only delegate
 * (tail calls), so they add no frame.
 */
interface Gate {
    suspend fun acquire()

    fun tryAcquire(): Boolean

    /** Returns false or null if the time has elapsed. */
    suspend fun acquireInTime(): Any? = throw UnsupportedOperationException()

    fun release()
}

/** Long enough never to elapse. */
val TIMEOUT: Duration = 1.minutes

/** Each acquire takes [weight] permits. kotlinx has no weights. */
fun semaphoreGate(impl: String, permits: Int, weight: Int = 1): Gate =
    when (impl) {
        "baton" -> BatonGate(BatonSemaphore(permits), weight)
        "baton-unfair" -> BatonGate(BatonSemaphore(permits, order = WaitOrder.UNFAIR), weight)
        "kotlinx" -> KotlinxGate(KotlinxSemaphore(permits)).also { require(weight == 1) }
        "juc" -> JucGate(JucSemaphore(permits, true), weight)
        else -> throw IllegalArgumentException("impl = $impl")
    }

fun mutexGate(impl: String): Gate =
    when (impl) {
        "baton" -> BatonMutexGate(BatonMutex())
        "baton-owner" -> BatonOwnedMutexGate(BatonMutex(), Any())
        "kotlinx" -> KotlinxMutexGate(KotlinxMutex())
        "kotlinx-owner" -> KotlinxOwnedMutexGate(KotlinxMutex(), Any())
        "juc" -> JucLockGate(ReentrantLock())
        else -> throw IllegalArgumentException("impl = $impl")
    }

class BatonGate(val semaphore: BatonSemaphore, private val weight: Int) : Gate {
    override suspend fun acquire() = semaphore.acquire(weight)

    override fun tryAcquire(): Boolean = semaphore.tryAcquire(weight)

    override suspend fun acquireInTime(): Any? = semaphore.tryAcquire(weight, TIMEOUT)

    override fun release() = semaphore.release(weight)
}

class KotlinxGate(private val semaphore: KotlinxSemaphore) : Gate {
    override suspend fun acquire() = semaphore.acquire()

    override fun tryAcquire(): Boolean = semaphore.tryAcquire()

    override suspend fun acquireInTime(): Any? = withTimeoutOrNull(TIMEOUT) { semaphore.acquire() }

    override fun release() = semaphore.release()
}

class JucGate(val semaphore: JucSemaphore, private val weight: Int) : Gate {
    override suspend fun acquire() = semaphore.acquire(weight)

    override fun tryAcquire(): Boolean = semaphore.tryAcquire(weight)

    override fun release() = semaphore.release(weight)
}

private class BatonMutexGate(private val mutex: BatonMutex) : Gate {
    override suspend fun acquire() = mutex.lock()

    override fun tryAcquire(): Boolean = mutex.tryLock()

    override fun release() = mutex.unlock()
}

private class BatonOwnedMutexGate(private val mutex: BatonMutex, private val owner: Any) : Gate {
    override suspend fun acquire() = mutex.lock(owner)

    override fun tryAcquire(): Boolean = mutex.tryLock(owner)

    override fun release() = mutex.unlock(owner)
}

private class KotlinxMutexGate(private val mutex: KotlinxMutex) : Gate {
    override suspend fun acquire() = mutex.lock()

    override fun tryAcquire(): Boolean = mutex.tryLock()

    override fun release() = mutex.unlock()
}

private class KotlinxOwnedMutexGate(private val mutex: KotlinxMutex, private val owner: Any) : Gate {
    override suspend fun acquire() = mutex.lock(owner)

    override fun tryAcquire(): Boolean = mutex.tryLock(owner)

    override fun release() = mutex.unlock(owner)
}

class JucLockGate(private val lock: ReentrantLock) : Gate {
    override suspend fun acquire() = lock.lock()

    override fun tryAcquire(): Boolean = lock.tryLock()

    override fun release() = lock.unlock()
}
