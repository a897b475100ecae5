package baton.lincheck.world

import baton.sync.Condition
import baton.sync.Mutex
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Sequential specification of a [Condition] and its [Mutex], which is locked at first. Every thread has one job, which
 * is cancelled once and for all.
 */
internal class ConditionSequential {
    /** A caller in one of the two queues; [thread] is that of a wait for a signal. */
    private class Waiter(val thread: Int?, val isFuture: Boolean = false, val ticket: Int = 0) {
        var reach = 0
        lateinit var caller: CancellableContinuation<String>

        val state
            get() = listOf(thread, isFuture, ticket, reach)
    }

    private var locked = true
    private val queue = ArrayList<Waiter>()
    private val line = ArrayList<Waiter>()
    private val cancelled = BooleanArray(THREADS)
    private var arrivals = 0

    fun queued() = queue.size

    fun waiting() = line.size

    fun tryLock(): Boolean {
        if (locked) return false
        locked = true
        return true
    }

    suspend fun lock() {
        if (!tryLock()) Waiter(thread = null).suspendIn(queue)
    }

    fun unlock() {
        check(locked)
        passOn()
    }

    suspend fun await(thread: Int): String {
        check(locked)
        if (cancelled[thread]) return CANCELLED
        val waiter = Waiter(thread, ticket = arrivals++)
        passOn()
        waiter.suspendIn(line)
        if (!cancelled[thread]) return SIGNALLED
        if (waiter.reach > 0) signalNext(waiter.reach)
        return CANCELLED
    }

    suspend fun awaitAsFuture(thread: Int): String {
        check(locked)
        passOn()
        return if (cancelled[thread]) CANCELLED else Waiter(thread, isFuture = true, arrivals++).suspendIn(line)
    }

    fun signal() {
        check(locked)
        signalNext(arrivals)
    }

    fun signalAll() {
        check(locked)
        while (signalNext(arrivals)) continue
    }

    fun cancel(thread: Int) {
        cancelled[thread] = true
        val waiter = (line + queue).find { it.thread == thread } ?: return
        if (line.remove(waiter)) {
            if (waiter.isFuture) waiter.caller.resume(CANCELLED) else rejoin(waiter)
        } else if (waiter.isFuture) {
            queue.remove(waiter)
            waiter.caller.resume(CANCELLED)
            signalNext(waiter.reach)
        }
    }

    private suspend fun Waiter.suspendIn(line: MutableList<Waiter>): String {
        line += this
        return suspendCancellableCoroutine { caller = it }
    }

    private fun signalNext(reach: Int): Boolean {
        val waiter = line.firstOrNull()?.takeIf { it.ticket < reach } ?: return false
        line.remove(waiter)
        waiter.reach = reach
        rejoin(waiter)
        return true
    }

    private fun rejoin(waiter: Waiter) {
        if (tryLock()) waiter.caller.resume(SIGNALLED) else queue += waiter
    }

    private fun passOn() {
        val next = queue.removeFirstOrNull()
        locked = next != null
        next?.caller?.resume(SIGNALLED)
    }

    private val state
        get() = listOf(locked, queue.map { it.state }, line.map { it.state }, cancelled.toList(), arrivals)

    override fun equals(other: Any?) = other is ConditionSequential && state == other.state

    override fun hashCode() = state.hashCode()

    companion object {
        const val SIGNALLED = "signalled"
        const val CANCELLED = "cancelled"
    }
}
