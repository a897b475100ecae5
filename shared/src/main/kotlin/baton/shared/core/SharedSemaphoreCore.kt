package baton.shared.core

import baton.bridge.coreOf
import baton.shared.SharedPermit
import baton.shared.counts.MemberCounts
import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.waiting.WordPoll
import baton.sync.Mutex
import baton.waiting.ThreadWaiter

/**
 * Two levels: within the process a [Mutex] as the queue, first come first served; between processes the [MemberCounts],
 * whose total is the number of permits that are held. The holder of the queue is this member's only waiter for other
 * processes.
 * 1. The total is never above [permits]: permits are added to a count by a change that checks it.
 * 2. A [SharedPermit] that is not closed stands for its number in the count of this member.
 * 3. A caller takes permits without the queue only while the queue is free, and waits at its head otherwise. So it
 *    overtakes no caller of this process.
 * 4. A caller that fails or is cancelled at the head has taken nothing, and hands the queue to the next one.
 */
internal class SharedSemaphoreCore(
    private val memory: SharedMemory,
    shared: SharedObject,
    val name: String,
    val permits: Int,
) : RegionMember {
    private val counts = MemberCounts(memory, shared)
    private val queue = Mutex()

    val available: Int
        get() = permits - counts.total

    /** Without the caller at the head. */
    val waiting: Int
        get() = queue.waiting

    val isQueued: Boolean
        get() = queue.isLocked

    fun availableNow(): Int {
        memory.check()
        return available
    }

    fun holders(): Map<Long, Int> {
        memory.check()
        return counts.byProcess()
    }

    suspend fun acquire(n: Int): SharedPermit {
        requireWeight(n)
        tryAtOnce(n)?.let {
            return it
        }
        queue.lock()
        try {
            val poll = counts.changes.newPoll()
            while (true) {
                val seen = counts.changes.value
                attempt(n, poll)?.let {
                    return it
                }
                poll.pause(seen)
            }
        } finally {
            queue.unlock()
        }
    }

    fun tryAcquire(n: Int): SharedPermit? {
        requireWeight(n)
        tryAtOnce(n)?.let {
            return it
        }
        return if (queue.isLocked || counts.takeOffDeadNowAndThen() == 0) null else tryTake(n)
    }

    /** Null when [nanos] are over. */
    fun acquireBlocking(n: Int, nanos: Long): SharedPermit? {
        requireWeight(n)
        ThreadWaiter.throwIfInterrupted()
        tryAcquire(n)?.let {
            return it
        }
        if (nanos <= 0) return null
        val deadline = System.nanoTime() + nanos
        if (!queue.tryLock() && !ThreadWaiter(coreOf(queue), 1, null, this).await(nanos)) return null
        try {
            return counts.changes.newPoll().awaitBlocking(deadline, { counts.takeOffDead() }) { tryTake(n) }
        } finally {
            queue.unlock()
        }
    }

    private fun tryAtOnce(n: Int): SharedPermit? {
        memory.check()
        return if (queue.isLocked) null else tryTake(n)
    }

    private fun attempt(n: Int, poll: WordPoll): SharedPermit? =
        tryTake(n) ?: if (poll.isProbeDue() && counts.takeOffDead() > 0) tryTake(n) else null

    private fun tryTake(n: Int): SharedPermit? {
        val permit = SharedPermit(this, n) // Before the permits are taken: what fails for lack of memory holds nothing.
        return if (counts.tryAdd(n, permits)) permit else null
    }

    /** Once per permit, by its close. */
    fun release(n: Int) {
        if (counts.tryRemove(n)) return
        throw IllegalStateException("release of permits = $n of $this, more than this process holds")
    }

    private fun requireWeight(n: Int) {
        require(n in 1..permits) { "permits = $n, must be within 1..$permits, the permits of $this" }
    }

    override fun regionEnded(isUsable: Boolean) {
        counts.end(isUsable)
    }

    fun describe(): String {
        if (!memory.isOpen) return "$this (permits = $permits, ended)"
        val held = counts.byProcess()
        val holders = if (held.isEmpty()) "" else ", holders = $held"
        return "$this (permits = $permits, available = $available$holders)"
    }

    override fun toString(): String = "SharedSemaphore '$name' of ${memory.path}"
}
