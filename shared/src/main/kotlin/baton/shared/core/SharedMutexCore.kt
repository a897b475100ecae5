package baton.shared.core

import baton.bridge.coreOf
import baton.shared.SharedLock
import baton.shared.region.Members
import baton.shared.region.NameRequest
import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.waiting.WordPoll
import baton.shared.word.MutexWord
import baton.sync.Mutex
import baton.waiting.Parking
import baton.waiting.ThreadWaiter
import baton.waiting.WaitCore

/**
 * Two levels: within the process Baton's own [Mutex], first come first served; between processes the word, of which the
 * holder of the local mutex is this member's only waiter.
 *
 * ```
 * +0 u32 word, see MutexWord     +8 u64 fencing token     +16 u32 recoveries from a death
 * ```
 * 1. The word names this member only while the local mutex is locked.
 * 2. [held] is the lock object of the last holder of both. Its state tells whether it still is, and decides, by one
 *    compare-and-set, between its own close and the end of the region; the one that wins unlocks the local mutex, so
 *    that waiters behind run into the end.
 * 3. A caller that fails or is cancelled while it waits for the word holds the local mutex and not the word: it unlocks
 *    the local mutex, whose next waiter then waits for the word in its place. So no wake is lost.
 * 4. The token and the count of recoveries are only ever added to: a caller that is slow while its region ends comes
 *    after the next owners, and must not take their tokens back.
 */
internal class SharedMutexCore(val memory: SharedMemory, val shared: SharedObject, val name: String) : RegionMember {
    private val words = shared.words
    private val conditions = Members<SharedConditionCore>(memory)
    private val local = Mutex()
    private val owner = MutexWord.owner(memory.slot, memory.generation)
    @Volatile private var held: SharedLock? = null

    /** Guarded by [local]: when the death of an owner was last asked for without waiting. */
    private var lastProbe = System.nanoTime() - PROBE_NANOS

    /** How many callers of this process wait in line; the one at its head waits for other processes. */
    val waiting: Int
        get() = local.waiting

    /** The queue of this process; a granted waiter goes on with [lockGranted]. */
    val queue: WaitCore
        get() = coreOf(local)

    /** False after the end: the file may have been cut. */
    val isLocked: Boolean
        get() = memory.isOpen && !MutexWord.isFree(words.getInt(WORD))

    /** Process of the owner that the word names; null if it is free or the owner is gone. Without a look at the end. */
    val holder: Long?
        get() {
            val word = words.getInt(WORD)
            if (MutexWord.isFree(word)) return null
            return memory.pidOf(MutexWord.slotOf(word), MutexWord.generationOf(word))
        }

    /** Whether a caller of this process holds the mutex. */
    val isHeldHere: Boolean
        get() = held?.isHeld == true

    fun checkOpen() = memory.check()

    fun condition(name: String): SharedConditionCore =
        conditions.open(NameRequest.ofCondition(shared.index, name)) { SharedConditionCore(memory, it, name, this) }

    suspend fun lock(): SharedLock = finish(take())

    private suspend fun take(): SharedLock {
        memory.check()
        local.lock()
        return takeGranted()
    }

    /** By the holder of the local mutex, which is unlocked if this fails or is cancelled. */
    suspend fun lockGranted(): SharedLock = finish(takeGranted())

    private suspend fun takeGranted(): SharedLock = unlockingOnFailure { tryTake(slept = false) ?: awaitWord() }

    /** Locks [lock] again, which waited for a condition. If this fails, it counts as closed. */
    suspend fun relock(lock: SharedLock) = relock(lock) { take() }

    /** As [relock]. An interrupt does not end it, and stays set. */
    fun relockBlocking(lock: SharedLock) = relock(lock) { takeUninterruptibly() }

    private inline fun relock(lock: SharedLock, take: () -> SharedLock) {
        try {
            val taken = take()
            lock.begin(taken.fencingToken, taken.abandoned)
        } catch (e: Throwable) {
            lock.endAwait(isHeld = false)
            throw e
        }
        held = lock // Before a foreign close can find it held.
        lock.endAwait(isHeld = true)
        checkOpen(lock)
    }

    private fun takeUninterruptibly(): SharedLock {
        var wasInterrupted = false
        try {
            while (true) {
                try {
                    return checkNotNull(takeBlocking(Parking.FOREVER))
                } catch (_: InterruptedException) {
                    wasInterrupted = true
                }
            }
        } finally {
            if (wasInterrupted) Thread.currentThread().interrupt()
        }
    }

    fun tryLock(): SharedLock? {
        memory.check()
        if (!local.tryLock()) return null
        val lock = unlockingOnFailure { tryTake(slept = false) ?: tryTakeFromTheDead() }
        if (lock == null) local.unlock()
        return if (lock == null) null else finish(lock)
    }

    /** Null when [nanos] are over. */
    fun lockBlocking(nanos: Long): SharedLock? = takeBlocking(nanos)?.let(::finish)

    private fun takeBlocking(nanos: Long): SharedLock? {
        memory.check()
        ThreadWaiter.throwIfInterrupted()
        val isFirst = local.tryLock()
        val atOnce = if (isFirst) unlockingOnFailure { tryTake(slept = false) } else null
        if (atOnce != null) return atOnce
        val deadline = System.nanoTime() + maxOf(nanos, 0)
        if (!isFirst && (nanos <= 0 || !ThreadWaiter(coreOf(local), 1, null, this).await(nanos))) return null
        val lock = unlockingOnFailure { tryTake(slept = false) ?: awaitWordBlocking(nanos, deadline) }
        if (lock == null) local.unlock()
        return lock
    }

    private inline fun <T> unlockingOnFailure(action: () -> T): T =
        try {
            memory.check() // The region may have ended while this caller was in line.
            action()
        } catch (e: Throwable) {
            local.unlock()
            throw e
        }

    /** Makes the lock visible to the end of the region. */
    private fun finish(lock: SharedLock): SharedLock {
        held = lock
        return checkOpen(lock)
    }

    /** The end of the region may have just been, and would have missed the lock. */
    private fun checkOpen(lock: SharedLock): SharedLock {
        if (memory.isOpen) return lock
        // The word still names this member, which is dead from now on: the next owner finds it abandoned.
        if (lock.tryEnd(isLost = false)) local.unlock()
        memory.check()
        return lock
    }

    private suspend fun awaitWord(): SharedLock {
        val poll = WordPoll(memory, words, WORD, MutexWord::withWaiters)
        while (true) {
            val word = words.getInt(WORD)
            attempt(word, poll)?.let {
                return it
            }
            poll.pause(word)
        }
    }

    private fun awaitWordBlocking(nanos: Long, deadline: Long): SharedLock? {
        val poll = WordPoll(memory, words, WORD, MutexWord::withWaiters)
        while (true) {
            val word = words.getInt(WORD)
            attempt(word, poll)?.let {
                return it
            }
            if (nanos <= 0 || deadline - System.nanoTime() <= 0) {
                poll.leave()
                return null
            }
            poll.pauseBlocking(word, deadline)
        }
    }

    private fun attempt(word: Int, poll: WordPoll): SharedLock? {
        if (MutexWord.isFree(word)) return tryTake(poll.hasSlept)
        return if (poll.isProbeDue()) tryTakeOver(word) else null
    }

    /** Takes a free word. */
    private fun tryTake(slept: Boolean): SharedLock? {
        var word = words.getInt(WORD)
        if (!MutexWord.isFree(word)) return null
        val lock = SharedLock(this) // Before the word is taken: what fails for lack of memory must hold nothing.
        while (!words.casInt(WORD, word, MutexWord.acquired(word, owner, slept))) {
            word = words.getInt(WORD)
            if (!MutexWord.isFree(word)) return null
        }
        lock.begin(nextToken(), MutexWord.isAbandoned(word))
        return lock
    }

    private fun tryTakeFromTheDead(): SharedLock? {
        val now = System.nanoTime()
        if (now - lastProbe < PROBE_NANOS) return null
        lastProbe = now
        return tryTakeOver(words.getInt(WORD))
    }

    /** Takes the word from an owner that is dead: [word] names it, so another owner since makes the step fail. */
    private fun tryTakeOver(word: Int): SharedLock? {
        if (MutexWord.isFree(word) || memory.isAlive(MutexWord.slotOf(word), MutexWord.generationOf(word))) return null
        val lock = SharedLock(this)
        if (!words.casInt(WORD, word, MutexWord.takenOver(owner))) return null
        lock.begin(nextToken(), isAbandoned = true)
        words.getAndAddInt(RECOVERIES, 1)
        return lock
    }

    private fun nextToken(): Long = words.getAndAddLong(TOKEN, 1) + 1

    /** Once per lock, by its close. */
    fun release(isConsistent: Boolean) {
        try {
            leave { MutexWord.released(it, isConsistent) }
        } finally {
            local.unlock()
        }
    }

    private inline fun leave(next: (Int) -> Int) {
        while (true) {
            val word = words.getInt(WORD)
            if (MutexWord.ownerOf(word) != owner) {
                if (!memory.isOpen) return // The slot is given back, and the next owner found it dead.
                val found = "slot ${MutexWord.slotOf(word)}, generation ${MutexWord.generationOf(word)}"
                throw IllegalStateException("unlock of $this, whose word names another owner: $found")
            }
            if (words.casInt(WORD, word, next(word))) {
                if (MutexWord.hasWaiters(word)) memory.wake(words, WORD)
                return
            }
        }
    }

    override fun regionEnded(isUsable: Boolean) {
        val lock = held ?: return
        if (!lock.tryEnd(isLost = !isUsable)) return
        try {
            if (isUsable) leave { MutexWord.givenUp() }
        } finally {
            local.unlock()
        }
    }

    override fun toString(): String = "SharedMutex '$name' of ${memory.path}"

    private companion object {
        const val WORD = 0
        const val TOKEN = 8
        const val RECOVERIES = 16
        const val PROBE_NANOS = 25_000_000L
    }
}
