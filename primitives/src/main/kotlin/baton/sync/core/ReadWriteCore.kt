package baton.sync.core

import baton.monitoring.Monitored
import baton.sync.ReadWritePolicy
import baton.waiting.BoundedBypass
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import baton.waiting.holders.Holder
import baton.waiting.holders.LockCore
import baton.waiting.holders.LockLook
import baton.waiting.holders.by
import baton.waiting.holders.holder
import baton.waiting.holders.makeKnown
import baton.waiting.labelOf

/*
 * How it works
 *
 * One word, changed by compare-and-set:
 *
 *   n ≥ 0             n readers; the bit UPGRADABLE marks one more, which may upgrade; no writer, no waiters, no owners
 *   WRITE_LOCKED      a writer without an owner; no waiters
 *   INFLATED          a caller waits, or has given an owner, or is recorded: the fields under the lock name
 *                     the holders
 *   BLOCKED           the same, and a newly arriving reader has to wait: only updateWord() sets this
 *
 *   n ◀──▶ n', WRITE_LOCKED                            any thread, without the lock: lockRead and unlockRead (±1),
 *                                                      lockWrite, unlockWrite, lockUpgradable, upgrade, downgrade
 *   n, WRITE_LOCKED ◀──▶ INFLATED, BLOCKED             under the lock, by inflate() and updateWord(): a caller waits,
 *                                                      or gives an owner, or is to be recorded
 *
 * The fields under the lock and their invariants, 1 to 6, are in [ReadWriteState]. This file holds the operations and
 * their fast paths.
 */
internal class ReadWriteCore(policy: ReadWritePolicy, private val lock: Monitored) : ReadWriteState(policy), LockCore {
    val readerCount: Int
        get() {
            val seen = word
            if (seen >= 0) return readersIn(seen)
            return if (seen == WRITE_LOCKED) 0 else decideInflated { readers + if (upgradable) 1 else 0 }
        }

    val isWriteLocked: Boolean
        get() {
            val seen = word
            return seen == WRITE_LOCKED || (seen < 0 && decideInflated { writing })
        }

    val waiting: Int
        get() = if (isGuarded(word)) decideInflated { waitingCount } else 0

    val writeHolder: Any?
        get() = if (isGuarded(word)) decideInflated { if (writing) intentOwner else null } else null

    val readHolders: List<Any>
        get() = if (isGuarded(word)) decideInflated { readingOwners() } else emptyList()

    /** Locks to read by compare-and-set. False if the caller has to wait, or to try under the lock. */
    fun readAtOnce(): Boolean {
        while (true) {
            val seen = word
            if (seen < 0 || seen.toInt() == MAX_READERS) return false
            if (compareAndSet(seen, seen + 1)) return true
        }
    }

    fun writeAtOnce(): Boolean = compareAndSet(0, WRITE_LOCKED)

    private fun readUpgradablyAtOnce(): Boolean {
        while (true) {
            val seen = word
            if (seen < 0 || seen and UPGRADABLE != 0L) return false
            if (compareAndSet(seen, seen or UPGRADABLE)) return true
        }
    }

    /** [by], here and below, is the caller, if it is to be recorded as a holder. */
    fun tryRead(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner == null && by == null && readAtOnce() -> ReadWriteOutcome.DONE
            owner == null && mustReaderWait() -> ReadWriteOutcome.BUSY
            else -> readSlowly(owner, by)
        }

    private fun readSlowly(owner: Any?, by: Holder?) = decideInflated { readUnderLock(owner, by) }

    fun tryWrite(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner == null && by == null && writeAtOnce() -> ReadWriteOutcome.DONE
            owner == null && mustWriterWait() -> ReadWriteOutcome.BUSY
            else -> writeSlowly(owner, by)
        }

    private fun writeSlowly(owner: Any?, by: Holder?) = decideInflated { writeUnderLock(owner, by) }

    fun tryReadUpgradably(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner == null && by == null && readUpgradablyAtOnce() -> ReadWriteOutcome.DONE
            else -> decideInflated { readUpgradablyUnderLock(owner, by) }
        }

    fun tryUpgrade(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner == null && by == null && compareAndSet(UPGRADABLE, WRITE_LOCKED) -> ReadWriteOutcome.DONE
            else -> decideInflated { upgradeUnderLock(owner, by) }
        }

    /** [by] is the token of the reader, if it has one. */
    fun endRead(owner: Any?, by: Holder?): Boolean {
        while (owner == null && by == null) {
            val seen = word
            if (seen < 0) break
            if (seen.toInt() == 0) return false
            if (compareAndSet(seen, seen - 1)) return true
        }
        return endReadGuarded(owner, by)
    }

    private fun endReadGuarded(owner: Any?, by: Holder?): Boolean {
        val isPlain = owner == null && by == null
        return decide { isPlain && endReadPlainly() || endReadSlowly(owner, by) }
    }

    private fun endReadSlowly(owner: Any?, by: Holder?) = inflated { endReadUnderLock(owner, by) }

    fun endWrite(owner: Any?): Boolean = owner == null && compareAndSet(WRITE_LOCKED, 0) || endWriteGuarded(owner)

    private fun endWriteGuarded(owner: Any?) = decide { owner == null && endWritePlainly() || endWriteSlowly(owner) }

    private fun endWriteSlowly(owner: Any?) = inflated { endWriteUnderLock(owner) }

    fun endUpgradable(owner: Any?): Boolean {
        while (owner == null) {
            val seen = word
            if (seen < 0) break
            if (seen and UPGRADABLE == 0L) return false
            if (compareAndSet(seen, seen xor UPGRADABLE)) return true
        }
        return decideInflated { upgrading == null && endUpgradableUnderLock(owner) }
    }

    fun downgrade(owner: Any?): Boolean =
        (owner == null && compareAndSet(WRITE_LOCKED, 1)) || decideInflated { downgradeUnderLock(owner) }

    /** Whether a reader that comes now has to wait. If not, the decision under the lock may still be that it waits. */
    private fun mustReaderWait(): Boolean {
        val seen = word
        return seen == WRITE_LOCKED || seen == BLOCKED
    }

    /** As [mustReaderWait], for a writer. */
    private fun mustWriterWait(): Boolean {
        val seen = word
        return seen > 0 || seen == WRITE_LOCKED || seen == BLOCKED
    }

    // ---- called by waiters

    override fun enqueue(waiter: Waiter): Int {
        val request = waiter.lockRequest
        makeKnown(waiter, isAnonymous = request.mode == LockMode.READ && request.owner == null)
        return decide { if (enqueuePlainly(waiter)) Waiter.WAITING else enqueueSlowly(waiter) }
    }

    private fun enqueueSlowly(waiter: Waiter): Int = inflated { enqueueUnderLock(waiter) }

    override val queuedWaiters: Int
        get() = waitingCount

    /** An upgrade is served first. Writers, upgradable readers and readers are not in one order. */
    override fun visitWaiters(limit: Int, visit: (Waiter) -> Unit) {
        upgrading?.let(visit)
        intents.forFirst(limit, visit)
        gathering?.forFirst(limit, visit)
    }

    override fun ownerIn(request: Any?): Any? = (request as LockRequest).owner

    private fun enqueueUnderLock(waiter: Waiter): Int {
        val request = waiter.lockRequest
        val mode = request.mode
        val owner = request.owner
        val outcome =
            when {
                mode == LockMode.READ -> readUnderLock(owner, waiter.by)
                mode == LockMode.WRITE -> writeUnderLock(owner, waiter.by)
                mode == LockMode.UPGRADABLE -> readUpgradablyUnderLock(owner, waiter.by)
                else -> upgradeUnderLock(owner, waiter.by)
            }
        when {
            outcome == ReadWriteOutcome.DONE -> if (!waiter.tryGrant()) takeBackInflated(waiter)
            outcome == ReadWriteOutcome.BUSY ->
                if (enqueueWaiter(waiter)) {
                    // A canceller may resume a reader by now: its state must not be read again, or both threads would
                    // resume it.
                    countPeak(waitingCount)
                    return Waiter.WAITING
                }
            else -> waiter.tryFail(ReadWriteRefusal(outcome, owner, blockingOwner()))
        }
        return waiter.currentState
    }

    override fun withdrawMember(waiter: Waiter) {
        decideInflated { withdrawReader(waiter) }
    }

    /** Ignores false: then another caller has, by mistake, unlocked the hold that this waiter was granted. */
    override fun takeBackInflated(waiter: Waiter) {
        val request = waiter.lockRequest
        val mode = request.mode
        when {
            mode == LockMode.READ -> endReadUnderLock(request.owner, waiter.by)
            mode == LockMode.WRITE -> endWriteUnderLock(request.owner)
            mode == LockMode.UPGRADABLE -> if (upgrading == null) endUpgradableUnderLock(request.owner)
            else ->
                if (writing && intentOwner === request.owner) {
                    writing = false
                    upgradable = true
                    admitEligible()
                }
        }
    }

    override fun addWaits(look: LockLook) {
        upgrading?.let { look.addWait(it, LockLook.READERS, it.mode.call) }
        // A queued writer holds back those behind it until the readers have unlocked.
        val all = LockLook.SOLE or LockLook.READERS
        var groups = LockLook.SOLE
        intents.forEach {
            if (it.mode == LockMode.WRITE) groups = all
            look.addWait(it, groups, it.mode.call)
        }
        gathering?.forFirst(Int.MAX_VALUE) { look.addWait(it, all, it.mode.call) }
    }

    override fun label(): String = labelOf("ReadWriteLock", lock.name)

    override fun toString(): String = lock.toString()

    override fun verbOf(waiter: Waiter): String = waiter.mode.call

    override fun failure(waiter: Waiter): Throwable = (waiter.outcome as ReadWriteRefusal).exception(waiter.mode, lock)

    /** The exception for the [outcome] of a request of [mode] by [owner]. Not under the lock. */
    fun refusal(outcome: ReadWriteOutcome, owner: Any?, mode: LockMode): IllegalStateException =
        ReadWriteRefusal(outcome, owner, decideInflated { blockingOwner() }).exception(mode, lock)

    private fun readersIn(word: Long) = word.toInt() + if (word and UPGRADABLE == 0L) 0 else 1
}

/** Readers that wait to be admitted together; [ownedReaders] of them have given an owner. */
internal class ReaderBatch : WaiterBatch() {
    var ownedReaders = 0

    /** How many of them wait at each priority level; null if none has a level. */
    var levels: IntArray? = null
        private set

    /** So that [addReader] does not want for memory. */
    fun makeRoomFor(member: Waiter) {
        if (levelOf(member) != Holder.NO_LEVEL && levels == null) levels = IntArray(BoundedBypass.LEVELS)
    }

    fun addReader(member: Waiter) {
        add(member)
        countLevel(member, 1)
    }

    fun removeReader(member: Waiter) {
        remove(member)
        countLevel(member, -1)
    }

    private fun countLevel(member: Waiter, change: Int) {
        val level = levelOf(member)
        if (level != Holder.NO_LEVEL) levels?.let { it[level] += change }
    }

    private fun levelOf(member: Waiter) = member.holder?.urgency ?: Holder.NO_LEVEL
}
