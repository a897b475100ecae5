package baton.interop

import baton.priority
import baton.sync.Barrier
import baton.sync.BarrierCancellation
import baton.sync.Mutex
import baton.sync.Semaphore
import baton.sync.WaitOrder
import baton.sync.barrier.BarrierFace
import baton.sync.barrier.KotlinBarrierFace
import baton.sync.mutex.KotlinMutexFace
import baton.sync.mutex.MutexFace
import baton.sync.mutex.SelectMutexFace
import baton.sync.semaphore.contract.KotlinSemaphoreFace
import baton.sync.semaphore.contract.SelectSemaphoreFace
import baton.sync.semaphore.contract.SemaphoreFace
import java.util.concurrent.CompletableFuture
import java.util.concurrent.ConcurrentLinkedDeque
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.future.await

// The Java API as the contracts use it. `await` withdraws the request when its coroutine is cancelled. But if the
// request was granted already, and the coroutine is cancelled before it runs, then the permit is in the future, and the
// owner of the future releases it.

internal suspend fun <P : Permit> CompletableFuture<P>.awaitPermit(): P =
    try {
        await()
    } catch (e: CancellationException) {
        if (!isCompletedExceptionally && isDone) join().close()
        throw e
    }

/** Permits whose callers have returned; a release closes one of them that fits. */
internal class Held<K, P : Permit> {
    private val permits = ConcurrentLinkedDeque<Pair<K, P>>()

    fun add(key: K, permit: P) {
        permits.add(key to permit)
    }

    fun take(matches: (K) -> Boolean): P? {
        val found = permits.firstOrNull { matches(it.first) } ?: return null
        permits.remove(found)
        return found.second
    }

    /** Closes a permit that matches. False if there is none: it was acquired elsewhere, or in other portions. */
    fun close(matches: (K) -> Boolean): Boolean {
        val permit = take(matches) ?: return false
        permit.close()
        return true
    }
}

/** @param patience how long an `acquire` waits; null for one without a timeout. */
class JavaSemaphoreFace(private val semaphore: AsyncSemaphore, private val patience: Duration? = null) : SemaphoreFace {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
        patience: Duration? = null,
    ) : this(AsyncSemaphore.of(Semaphore(permits, acquired, order, name)), patience)

    private val held = Held<Int, Permit>()

    override val permits: Int
        get() = semaphore.permits()

    override val available: Int
        get() = semaphore.availablePermits()

    override val waiting: Int
        get() = semaphore.waiting()

    override suspend fun acquire(permits: Int) {
        val level = currentCoroutineContext().priority
        val time = patience?.toJavaDuration()
        val future =
            when {
                time == null -> if (level == null) semaphore.acquire(permits) else semaphore.acquire(permits, level)
                level == null -> semaphore.acquire(permits, time)
                else -> semaphore.acquire(permits, level, time)
            }
        held.add(permits, future.awaitPermit())
    }

    override fun tryAcquire(permits: Int): Boolean {
        val permit = semaphore.tryAcquire(permits)
        permit.ifPresent { held.add(permits, it) }
        return permit.isPresent
    }

    /** The timeout runs in real time. */
    override suspend fun tryAcquire(permits: Int, timeout: Duration): Boolean =
        try {
            held.add(permits, semaphore.acquire(permits, timeout.toJavaDuration()).awaitPermit())
            true
        } catch (_: java.util.concurrent.TimeoutException) {
            false
        }

    override fun release(permits: Int) {
        if (!held.close { it == permits }) semaphore.kotlin().release(permits)
    }

    override fun resize(permits: Int) = semaphore.resize(permits)

    override fun close(cause: Throwable?) = if (cause == null) semaphore.close() else semaphore.close(cause)

    override suspend fun awaitIdle() {
        semaphore.awaitIdle().await()
    }

    override fun toString() = semaphore.toString()
}

/** @param patience how long a `lock` waits; null for one without a timeout. */
class JavaMutexFace(private val mutex: AsyncMutex, private val patience: Duration? = null) : MutexFace {
    constructor(
        locked: Boolean,
        name: String?,
        patience: Duration? = null,
    ) : this(AsyncMutex.of(Mutex(locked, name)), patience)

    private val held = Held<Any?, Permit>()

    override val isLocked: Boolean
        get() = mutex.isLocked

    override val holder: Any?
        get() = mutex.holder().orElse(null)

    override val waiting: Int
        get() = mutex.waiting()

    override suspend fun lock(owner: Any?) {
        held.add(owner, request(owner, patience).awaitPermit())
    }

    override fun tryLock(owner: Any?): Boolean {
        val permit = mutex.ownedByOrNull(owner).tryLock()
        permit.ifPresent { held.add(owner, it) }
        return permit.isPresent
    }

    private fun request(owner: Any?, patience: Duration?): CompletableFuture<Permit> {
        val time = patience?.toJavaDuration()
        return mutex.ownedByOrNull(owner).run { if (time == null) lock() else lock(time) }
    }

    /** The timeout runs in real time. */
    override suspend fun tryLock(timeout: Duration, owner: Any?): Boolean =
        try {
            held.add(owner, request(owner, timeout).awaitPermit())
            true
        } catch (_: java.util.concurrent.TimeoutException) {
            false
        }

    override fun unlock(owner: Any?) {
        if (!held.close { it === owner }) mutex.kotlin().unlock(owner)
    }

    override fun toString() = mutex.toString()
}

/** Futures, suspend functions and `select` alternate, in one queue. */
class JavaKotlinSemaphoreFace(private val semaphore: Semaphore) : SemaphoreFace by KotlinSemaphoreFace(semaphore) {
    constructor(
        permits: Int,
        acquired: Int,
        order: WaitOrder,
        name: String?,
    ) : this(Semaphore(permits, acquired, order, name))

    private val faces =
        listOf(
            JavaSemaphoreFace(AsyncSemaphore.of(semaphore)),
            KotlinSemaphoreFace(semaphore),
            SelectSemaphoreFace(semaphore),
        )
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun acquire(permits: Int) = next().acquire(permits)

    override fun tryAcquire(permits: Int) = next().tryAcquire(permits)

    override suspend fun awaitIdle() = next().awaitIdle()

    override fun toString() = semaphore.toString()
}

/** Futures, suspend functions and `select` alternate, in one queue. */
class JavaKotlinMutexFace(private val mutex: Mutex) : MutexFace by KotlinMutexFace(mutex) {
    constructor(locked: Boolean, name: String?) : this(Mutex(locked, name))

    private val faces = listOf(JavaMutexFace(AsyncMutex.of(mutex)), KotlinMutexFace(mutex), SelectMutexFace(mutex))
    private var turn = 0

    private fun next() = faces[turn++ % faces.size]

    override suspend fun lock(owner: Any?) = next().lock(owner)

    override fun tryLock(owner: Any?) = next().tryLock(owner)

    override fun toString() = mutex.toString()
}

class JavaBarrierFace(private val barrier: AsyncBarrier) : BarrierFace {
    constructor(
        parties: Int,
        onCancel: BarrierCancellation,
        name: String?,
        action: (suspend () -> Unit)?,
    ) : this(AsyncBarrier.of(Barrier(parties, onCancel, name, action)))

    override val parties: Int
        get() = barrier.parties()

    override val waiting: Int
        get() = barrier.waiting()

    override val isBroken: Boolean
        get() = barrier.isBroken

    override suspend fun arrive(): Int = barrier.arrive().await()

    /** The timeout runs in real time. */
    override suspend fun arrive(timeout: Duration): Int = barrier.arrive(timeout.toJavaDuration()).await()

    override fun abort(cause: Throwable?) = if (cause == null) barrier.abort() else barrier.abort(cause)

    override fun reset() = barrier.reset()

    override fun toString() = barrier.toString()
}

/** Futures and suspend functions alternate, at one barrier. */
class JavaKotlinBarrierFace(private val barrier: Barrier) : BarrierFace by KotlinBarrierFace(barrier) {
    constructor(
        parties: Int,
        onCancel: BarrierCancellation,
        name: String?,
        action: (suspend () -> Unit)?,
    ) : this(Barrier(parties, onCancel, name, action))

    private val faces = listOf(JavaBarrierFace(AsyncBarrier.of(barrier)), KotlinBarrierFace(barrier))
    private var turn = 0

    override suspend fun arrive() = faces[turn++ % faces.size].arrive()

    override fun toString() = barrier.toString()
}

internal fun AsyncMutex.ownedByOrNull(owner: Any?) = if (owner == null) this else ownedBy(owner)
