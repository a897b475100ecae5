package baton.lincheck.world

import baton.lincheck.LockOwner
import baton.lincheck.ThreadOwner
import baton.sync.Mutex
import kotlin.coroutines.resume
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** Sequential specification of a [Mutex]. */
internal class MutexSequential {
    private class Request(val owner: Any?, val timer: Int, val caller: CancellableContinuation<Boolean>) {
        val kind
            get() = owner to timer
    }

    private var locked = false
    private var owner: Any? = null
    private val line = ArrayList<Request>()

    fun isLocked() = locked

    fun holder() = owner

    fun waiting() = line.size

    fun tryLock() = take(null)

    fun tryLockBy(owner: LockOwner) = take(owner)

    suspend fun lock() {
        await(null)
    }

    suspend fun lockBy(owner: LockOwner) {
        await(owner)
    }

    fun timePasses(timer: Int) {
        val request = line.find { it.timer == timer } ?: return
        line -= request
        request.caller.resume(false)
    }

    fun unlock() = leave(null)

    fun unlockBy(owner: LockOwner) = leave(owner)

    private fun take(by: Any?): Boolean {
        check(!locked || by == null || owner !== by)
        if (locked) return false
        locked = true
        owner = by
        return true
    }

    internal suspend fun await(by: Any?, timer: Int = NO_TIMER): Boolean {
        if (take(by)) return true
        return suspendCancellableCoroutine { caller ->
            val request = Request(by, timer, caller)
            line += request
            caller.invokeOnCancellation { line -= request }
        }
    }

    internal fun leave(by: Any?) {
        check(locked && owner === by)
        passOn()
    }

    private fun passOn() {
        val next = line.removeFirstOrNull()
        locked = next != null
        owner = next?.owner
        next?.caller?.letIn { if (locked && owner === next.owner) passOn() }
    }

    override fun equals(other: Any?) =
        other is MutexSequential &&
            locked == other.locked &&
            owner === other.owner &&
            line.map { it.kind } == other.line.map { it.kind }

    override fun hashCode() = line.size
}

/** Only the thread that has locked unlocks. */
internal class HonestMutexSequential {
    private val mutex = MutexSequential()
    private val mine = Array<Any?>(THREADS) { null }

    fun isLocked() = mutex.isLocked()

    fun holder() = mutex.holder()

    fun waiting() = mutex.waiting()

    suspend fun lock(thread: Int) {
        mutex.lock()
        mine[thread] = NO_OWNER
    }

    suspend fun lockBy(thread: Int) {
        val owner = ThreadOwner.entries[thread]
        mutex.await(owner)
        mine[thread] = owner
    }

    suspend fun tryLockTimed(thread: Int) = mutex.await(null, thread).also { if (it) mine[thread] = NO_OWNER }

    suspend fun tryLockTimedBy(thread: Int): Boolean {
        val owner = ThreadOwner.entries[thread]
        return mutex.await(owner, thread).also { if (it) mine[thread] = owner }
    }

    fun timePasses(thread: Int) = mutex.timePasses(thread)

    fun tryLock(thread: Int) = mutex.tryLock().also { if (it) mine[thread] = NO_OWNER }

    fun unlock(thread: Int) {
        val owner = mine[thread] ?: return
        mine[thread] = null
        mutex.leave(owner.takeIf { it != NO_OWNER })
    }

    override fun equals(other: Any?) =
        other is HonestMutexSequential && mutex == other.mutex && mine.contentEquals(other.mine)

    override fun hashCode() = mutex.hashCode()
}
