package baton.sync.semaphore.contract

import baton.sync.Semaphore
import baton.sync.WaitOrder
import kotlin.time.Duration
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select

/** The suspend functions. */
class KotlinSemaphoreFace(private val semaphore: Semaphore) : SemaphoreFace {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    override val permits: Int
        get() = semaphore.permits

    override val available: Int
        get() = semaphore.availablePermits

    override val waiting: Int
        get() = semaphore.waiting

    override suspend fun acquire(permits: Int) = semaphore.acquire(permits)

    override fun tryAcquire(permits: Int) = semaphore.tryAcquire(permits)

    override suspend fun tryAcquire(permits: Int, timeout: Duration) = semaphore.tryAcquire(permits, timeout)

    override fun release(permits: Int) = semaphore.release(permits)

    override fun resize(permits: Int) = semaphore.resize(permits)

    override fun close(cause: Throwable?) = semaphore.close(cause)

    override suspend fun awaitIdle() = semaphore.awaitIdle()

    override fun toString() = semaphore.toString()
}

/** All waiters for permits wait in a `select`. */
class SelectSemaphoreFace(private val semaphore: Semaphore) : SemaphoreFace by KotlinSemaphoreFace(semaphore) {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    override suspend fun acquire(permits: Int) = select { semaphore.onAcquire(permits) {} }

    override suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean = select {
        semaphore.onAcquire(permits) { true }
        onTimeout(timeout) { false }
    }

    override fun toString() = semaphore.toString()
}

/** Suspend functions and `select` alternate, in one queue. */
class MixedSemaphoreFace(private val semaphore: Semaphore) : SemaphoreFace by KotlinSemaphoreFace(semaphore) {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    private val faces = listOf(KotlinSemaphoreFace(semaphore), SelectSemaphoreFace(semaphore))
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun acquire(permits: Int) = next().acquire(permits)

    override suspend fun tryAcquire(permits: Int, timeout: Duration) = next().tryAcquire(permits, timeout)

    override fun toString() = semaphore.toString()
}
