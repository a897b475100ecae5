package baton.lincheck.world

import baton.sync.Semaphore
import baton.sync.SemaphoreClosedException
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** The timer of a request that has none. */
internal const val NO_TIMER = -1

/** Sequential specification of a [Semaphore]. */
internal open class SemaphoreSequential(private var permits: Int) {
    private class Request(
        val weight: Int,
        val urgent: Boolean,
        val timer: Int,
        val caller: CancellableContinuation<Boolean>,
    ) {
        val kind
            get() = Triple(weight, urgent, timer)
    }

    private var held = 0
    private var closed = false
    private val line = ArrayList<Request>()
    private val idlers = ArrayList<CancellableContinuation<Unit>>()

    fun permits() = permits

    fun availablePermits() = maxOf(permits - held, 0)

    fun waiting() = line.size

    suspend fun acquire() = acquire(1)

    fun tryAcquire() = tryAcquire(1)

    fun release() = release(1)

    suspend fun acquire(n: Int) {
        if (!tryAcquire(n)) await(n)
    }

    suspend fun acquireUrgently(n: Int) {
        if (!tryAcquire(n)) await(n, urgent = true)
    }

    suspend fun tryAcquireTimed(timer: Int, n: Int): Boolean = tryAcquire(n) || await(n, timer = timer)

    private suspend fun await(n: Int, urgent: Boolean = false, timer: Int = NO_TIMER): Boolean =
        suspendCancellableCoroutine { caller ->
            val request = Request(n, urgent, timer, caller)
            line.add(if (urgent) line.count { it.urgent } else line.size, request)
            admit()
            caller.invokeOnCancellation {
                line -= request
                admit()
            }
        }

    fun timePasses(timer: Int) {
        val request = line.find { it.timer == timer } ?: return
        line -= request
        request.caller.resume(false)
        admit()
    }

    fun tryAcquire(n: Int): Boolean {
        if (closed) throw SemaphoreClosedException("", null)
        require(!isTooHeavy(n))
        if (line.isNotEmpty() || held + n > permits) return false
        held += n
        return true
    }

    fun drain(): Int {
        if (closed) throw SemaphoreClosedException("", null)
        return if (line.isEmpty()) availablePermits().also { held += it } else 0
    }

    private fun isTooHeavy(weight: Int) = permits > 0 && weight > permits

    fun release(n: Int) {
        check(n <= held)
        held -= n
        admit()
    }

    fun resize(newPermits: Int) {
        if (closed) throw SemaphoreClosedException("", null)
        permits = newPermits
        for (request in line.filter { isTooHeavy(it.weight) }) {
            line -= request
            request.caller.resumeWithException(IllegalArgumentException())
        }
        admit()
    }

    fun close() {
        closed = true
        for (request in line) request.caller.resumeWithException(SemaphoreClosedException("", null))
        line.clear()
    }

    suspend fun awaitIdle() {
        if (held > 0) {
            suspendCancellableCoroutine { caller ->
                idlers += caller
                caller.invokeOnCancellation { idlers -= caller }
            }
        }
    }

    /** Grants the head of the queue as long as it fits. */
    private fun admit() {
        while (line.isNotEmpty() && held + line.first().weight <= permits) {
            val request = line.removeFirst()
            held += request.weight
            request.caller.letIn {
                held -= request.weight
                admit()
            }
        }
        if (held == 0) {
            for (idler in idlers) idler.resume(Unit)
            idlers.clear()
        }
    }

    override fun equals(other: Any?) =
        other is SemaphoreSequential &&
            permits == other.permits &&
            held == other.held &&
            closed == other.closed &&
            idlers.size == other.idlers.size &&
            line.map { it.kind } == other.line.map { it.kind }

    override fun hashCode() = held + 31 * line.size
}

/** A thread releases only the permits it holds. */
internal open class HonestSemaphoreSequential(permits: Int) {
    private val semaphore = SemaphoreSequential(permits)
    private val held = IntArray(THREADS)

    fun permits() = semaphore.permits()

    fun availablePermits() = semaphore.availablePermits()

    fun waiting() = semaphore.waiting()

    suspend fun acquire(thread: Int, n: Int) {
        semaphore.acquire(n)
        held[thread] += n
    }

    suspend fun acquireUrgently(thread: Int, n: Int) {
        semaphore.acquireUrgently(n)
        held[thread] += n
    }

    suspend fun tryAcquireTimed(thread: Int, n: Int) =
        semaphore.tryAcquireTimed(thread, n).also { if (it) held[thread] += n }

    suspend fun tryAcquireForNoTime(thread: Int, n: Int) = tryAcquire(thread, n)

    fun timePasses(thread: Int) = semaphore.timePasses(thread)

    fun tryAcquire(thread: Int, n: Int) = semaphore.tryAcquire(n).also { if (it) held[thread] += n }

    fun release(thread: Int, n: Int) {
        val honest = minOf(n, held[thread])
        held[thread] -= honest
        if (honest > 0) semaphore.release(honest)
    }

    fun resize(newPermits: Int) = semaphore.resize(newPermits)

    fun close() = semaphore.close()

    suspend fun awaitIdle() = semaphore.awaitIdle()

    override fun equals(other: Any?) =
        other is HonestSemaphoreSequential && semaphore == other.semaphore && held.contentEquals(other.held)

    override fun hashCode() = semaphore.hashCode()
}
