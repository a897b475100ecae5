package baton.sync

import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.suspendCancellableCoroutine

/** What a [Mutex] is to do, for one thread at a time. */
internal class MutexSequential {
    private class Request(val owner: Any?, val caller: CancellableContinuation<Unit>)

    private var locked = false
    private var owner: Any? = null
    private val line = ArrayList<Request>()

    fun isLocked() = locked

    fun holder() = owner

    fun waiting() = line.size

    fun tryLock() = take(null)

    fun tryLockBy(owner: LockOwner) = take(owner)

    suspend fun lock() = await(null)

    suspend fun lockBy(owner: LockOwner) = await(owner)

    fun unlock() = leave(null)

    fun unlockBy(owner: LockOwner) = leave(owner)

    private fun take(by: Any?): Boolean {
        check(!locked || by == null || owner !== by)
        if (locked) return false
        locked = true
        owner = by
        return true
    }

    private suspend fun await(by: Any?) {
        if (take(by)) return
        suspendCancellableCoroutine { caller ->
            val request = Request(by, caller)
            line += request
            caller.invokeOnCancellation { line -= request }
        }
    }

    private fun leave(by: Any?) {
        check(locked && owner === by)
        passOn()
    }

    private fun passOn() {
        val next = line.removeFirstOrNull()
        locked = next != null
        owner = next?.owner
        next?.caller?.resume(Unit) { _, _, _ -> if (locked && owner === next.owner) passOn() }
    }

    override fun equals(other: Any?) =
        other is MutexSequential && locked == other.locked && owner === other.owner &&
            line.map { it.owner } == other.line.map { it.owner }

    override fun hashCode() = line.size
}

/** Only who has locked unlocks. */
internal class HonestMutexSequential {
    private val mutex = MutexSequential()
    private val mine = Array<Any?>(THREADS) { null }

    fun isLocked() = mutex.isLocked()

    fun holder() = mutex.holder()

    fun waiting() = mutex.waiting()

    suspend fun lock(thread: Int) {
        mutex.lock()
        mine[thread] = NOBODY
    }

    suspend fun lockBy(thread: Int, owner: LockOwner) {
        mutex.lockBy(owner)
        mine[thread] = owner
    }

    fun tryLock(thread: Int) = mutex.tryLock().also { if (it) mine[thread] = NOBODY }

    fun unlock(thread: Int) {
        val owner = mine[thread] ?: return
        mine[thread] = null
        if (owner is LockOwner) mutex.unlockBy(owner) else mutex.unlock()
    }

    override fun equals(other: Any?) =
        other is HonestMutexSequential && mutex == other.mutex && mine.contentEquals(other.mine)

    override fun hashCode() = mutex.hashCode()
}
