package baton.sync.core

import baton.sync.ReadWritePolicy
import baton.waiting.FifoWaitQueue
import baton.waiting.Waiter
import baton.waiting.holders.Holder
import baton.waiting.holders.by
import baton.waiting.holders.countWaiter
import baton.waiting.holders.hasKnownHolder
import baton.waiting.holders.holder
import baton.waiting.holders.holders
import baton.waiting.holders.recordSole
import baton.waiting.holders.recordUpgraded
import baton.waiting.holders.removeAnonymous
import baton.waiting.holders.uncountWaiter
import baton.waiting.holders.uncountWaiters

/*
 * The state of a read-write lock, meaningful while its word is INFLATED or BLOCKED (see ReadWriteCore.kt):
 *
 *   readers, upgradable, writing   the holders; readers does not count the upgradable one
 *   intentOwner                    owner of the writer or of the upgradable reader
 *   ownedReaders, owners           how many of the readers came with an owner, and those owners
 *   intents                        the queue of writers and upgradable readers, first come, first served
 *   upgrading                      the upgradable reader that waits for the other readers to unlock
 *   gathering                      the waiting readers, which are admitted together
 *
 * (1) writing excludes readers and upgradable; upgrading implies upgradable.
 * (2) No caller waits while the lock is free.
 * (3) Readers gather only while mayRead() is false. Every change that could make it true ends in admitEligible().
 * (4) A batch of readers is admitted in one step: the state counts it, and the waking thread decides on its members
 *     when the lock is free. A member cancelled in between finds its batch ended and unlocks as any reader does.
 * (5) Once no waiter, owner or recorded holder is left, the word is neither of the two, and the fast paths are open.
 * (6) A caller that is to be known as a holder, `by`, is recorded (see Holders) in the step that admits it. The unlock of
 *     a reader names its hold by `by`, its token, or by an owner; otherwise the reader is anonymous.
 * The phases of PHASE_FAIR are those of Brandenburg and Anderson, "Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems" (2010).
 */
internal abstract class ReadWriteState(private val policy: ReadWritePolicy) : InflatingCore(word = 0) {
    protected var readers = 0
    protected var upgradable = false
    protected var writing = false
    protected var intentOwner: Any? = null
    private var ownedReaders = 0
    private val owners = ReadOwners()
    protected val intents = FifoWaitQueue()
    private var queuedWriters = 0
    protected var upgrading: Waiter? = null
    protected var gathering: ReaderBatch? = null

    fun readingOwners(): List<Any> {
        val plainly = owners.holders()
        val upgradably = if (upgradable) intentOwner else null
        return if (upgradably == null || holdsToRead(upgradably)) plainly else plainly + upgradably
    }

    private val gatheringReaders: Int
        get() = gathering?.size ?: 0

    /** How many callers wait. */
    protected val waitingCount: Int
        get() = intents.size + gatheringReaders + if (upgrading == null) 0 else 1

    final override fun readWord(word: Long) {
        writing = word == WRITE_LOCKED
        readers = if (writing) 0 else word.toInt()
        upgradable = !writing && word and UPGRADABLE != 0L
    }

    final override fun demandedWord(): Long {
        val free = waitingCount == 0 && intentOwner == null && owners.isEmpty && !hasKnownHolder()
        return when {
            !free -> if (mayRead()) INFLATED else BLOCKED
            writing -> WRITE_LOCKED
            else -> readers + if (upgradable) UPGRADABLE else 0L
        }
    }

    private fun mayRead() =
        !writing && (policy == ReadWritePolicy.READER_FIRST || (queuedWriters == 0 && upgrading == null))

    private fun holdsToRead(owner: Any) = owners.find(owner)?.holds == true

    fun readUnderLock(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner != null && writing && intentOwner === owner -> ReadWriteOutcome.HELD
            // The waiting readers may be admitted before a reader unlocks, so they count too.
            readers >= MAX_READERS - gatheringReaders -> ReadWriteOutcome.FULL
            mayRead() -> {
                if (owner != null) {
                    // First, because it allocates, which may fail.
                    owners.entry(owner).addHold()
                    ownedReaders++
                }
                readers++
                if (by != null) recordReader(owner, by)
                ReadWriteOutcome.DONE
            }
            // The request that blocks this one waits for this owner to unlock.
            owner != null && !writing && (holdsToRead(owner) || intentOwner === owner) -> ReadWriteOutcome.DEADLOCK
            else -> ReadWriteOutcome.BUSY
        }

    /** Records a reader that holds the lock. */
    private fun recordReader(owner: Any?, by: Holder) {
        if (owner == null || owners.find(owner)?.record(by) == true) holders?.enter(by)
    }

    fun writeUnderLock(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner != null && (intentOwner === owner || holdsToRead(owner)) -> ReadWriteOutcome.HELD
            writing || upgradable || readers > 0 || intents.size > 0 -> ReadWriteOutcome.BUSY
            else -> {
                writing = true
                intentOwner = owner
                recordSole(by)
                ReadWriteOutcome.DONE
            }
        }

    fun readUpgradablyUnderLock(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            owner != null && intentOwner === owner -> ReadWriteOutcome.HELD
            writing || upgradable || intents.size > 0 ->
                // The request that blocks this one may come to wait for this owner to unlock.
                if (owner != null && holdsToRead(owner)) ReadWriteOutcome.DEADLOCK else ReadWriteOutcome.BUSY
            else -> {
                upgradable = true
                intentOwner = owner
                recordSole(by)
                ReadWriteOutcome.DONE
            }
        }

    fun upgradeUnderLock(owner: Any?, by: Holder?): ReadWriteOutcome =
        when {
            !upgradable || intentOwner !== owner || upgrading != null -> ReadWriteOutcome.NOT_HELD
            owner != null && holdsToRead(owner) -> ReadWriteOutcome.DEADLOCK
            readers > 0 -> ReadWriteOutcome.BUSY
            else -> {
                upgradable = false
                writing = true
                recordUpgraded(by)
                ReadWriteOutcome.DONE
            }
        }

    /** False if [waiter] was withdrawn. */
    fun enqueueWaiter(waiter: Waiter): Boolean {
        val mode = waiter.mode
        if (if (mode == LockMode.READ) !gather(waiter) else !waiter.startWaiting()) return false
        countWaiter(waiter)
        if (mode == LockMode.UPGRADE) upgrading = waiter
        if (mode == LockMode.WRITE || mode == LockMode.UPGRADABLE) intents.add(waiter)
        if (mode == LockMode.WRITE) queuedWriters++
        return true
    }

    private fun gather(reader: Waiter): Boolean {
        // All allocations come before the first change: each of them may fail.
        val batch = gathering ?: ReaderBatch()
        batch.makeRoomFor(reader)
        val entry = reader.lockRequest.owner?.let(owners::entry)
        entry?.makeRoom()
        if (!reader.startGathering()) {
            entry?.let(owners::removeIfEmpty)
            return false
        }
        gathering = batch
        batch.addReader(reader)
        reader.place = batch
        if (entry != null) {
            entry.addWaiting(batch)
            batch.ownedReaders++
        }
        return true
    }

    /** Owner of the request that blocks a refused reader: the current writer, or else the first queued writer. */
    fun blockingOwner(): Any? {
        if (writing || upgrading != null) return intentOwner
        var first = intents.head()
        while (first != null && first.mode != LockMode.WRITE) first = first.next
        return if (first == null) intentOwner else first.lockRequest.owner
    }

    fun endReadUnderLock(owner: Any?, by: Holder?): Boolean {
        if (by != null) holders?.leave(by)
        if (owner == null) {
            if (readers == ownedReaders) return false
            if (by == null) removeAnonymous(unowned = readers - ownedReaders)
        } else {
            val entry = owners.find(owner)
            if (entry == null || !entry.holds) return false
            entry.removeHold()
            entry.unrecord(by)?.let { holders?.leave(it) }
            ownedReaders--
            owners.removeIfEmpty(entry)
        }
        readers--
        admitEligible()
        return true
    }

    fun endWriteUnderLock(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        writing = false
        intentOwner = null
        recordSole(null)
        startNextPhase()
        return true
    }

    fun endUpgradableUnderLock(owner: Any?): Boolean {
        if (!upgradable || intentOwner !== owner) return false
        upgradable = false
        intentOwner = null
        recordSole(null)
        admitEligible()
        return true
    }

    fun downgradeUnderLock(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        val entry = owner?.let(owners::entry)
        entry?.addHold()
        writing = false
        intentOwner = null
        readers = 1
        val holder = holders?.takeSole(isAnonymous = owner == null)
        if (entry != null) {
            ownedReaders = 1
            if (holder != null) entry.record(holder)
        }
        startNextPhase()
        return true
    }

    // ---- the plain cases: callers without an owner, while the word is BLOCKED and stays so. Under the lock, outside
    // inflate() and updateWord(). False if there is more to do; then nothing has changed.

    /** A request waits behind others: a reader with those that gather, a writer in the queue. */
    protected fun enqueuePlainly(waiter: Waiter): Boolean {
        val request = waiter.lockRequest
        if (word != BLOCKED || request.owner != null || waiter.holder != null) return false
        if (request.mode == LockMode.WRITE) {
            if (!waiter.startWaiting()) return false
            intents.add(waiter)
            queuedWriters++
        } else {
            val batch = gathering
            if (request.mode != LockMode.READ || batch == null || readers >= MAX_READERS - batch.size) return false
            if (!waiter.startGathering()) return false
            batch.addReader(waiter)
            waiter.place = batch
        }
        countPeak(waitingCount)
        return true
    }

    /** One of several readers unlocks, or the last one before a writer. */
    protected fun endReadPlainly(): Boolean {
        if (word != BLOCKED || readers == ownedReaders || knownHolders != null) return false
        if (readers == 1 && (upgradable || !admitWriterPlainly())) return false
        readers--
        return true
    }

    /** A writer unlocks before readers that gather, or before another writer. */
    protected fun endWritePlainly(): Boolean {
        if (word != BLOCKED || !writing || intentOwner != null || knownHolders != null) return false
        if (policy != ReadWritePolicy.PHASE_FAIR) return false
        if (gatheringReaders == 0) return admitWriterPlainly()
        if (intents.head()?.mode != LockMode.WRITE) return false
        writing = false
        admitReaders()
        return true
    }

    private fun admitWriterPlainly(): Boolean {
        val head = intents.head()
        if (head == null || head.mode != LockMode.WRITE || head.lockRequest.owner != null) return false
        // The deepest call first: if the stack has no room for it, nothing has changed.
        head.grantQueued()
        intents.removeHead(head)
        queuedWriters--
        writing = true
        if (waitingCount == 0) setWordLazily(WRITE_LOCKED)
        wake(head)
        return true
    }

    // ---- the end of a hold, and what it admits

    /** Starts the next phase after a writer has unlocked or downgraded. */
    private fun startNextPhase() {
        if (policy != ReadWritePolicy.WRITER_FIRST) admitReaders()
        admitEligible()
    }

    /** Admits the waiters that may hold the lock now. */
    protected fun admitEligible() {
        val upgrade = upgrading
        if (upgrade != null && readers == 0) {
            upgrading = null
            uncountWaiter(upgrade)
            upgradable = false
            writing = true
            recordUpgraded(upgrade.by)
            upgrade.grantQueued()
            wake(upgrade)
        }
        while (!writing && !upgradable) {
            val head = intents.head() ?: break
            if (head.mode == LockMode.WRITE && readers > 0) break
            unlink(head)
            if (head.mode == LockMode.WRITE) writing = true else upgradable = true
            intentOwner = head.lockRequest.owner
            recordSole(head.by)
            head.grantQueued()
            wake(head)
        }
        if (mayRead()) admitReaders()
    }

    private fun admitReaders() {
        val batch = gathering ?: return
        if (batch.size == 0) return
        gathering = null
        readers += batch.size
        ownedReaders += batch.ownedReaders
        batch.levels?.let { uncountWaiters(it) }
        batch.end()
        wake(batch)
        // Now, and not when it is woken: a granted member may go on, or lose its grant, before that.
        if (knownHolders != null) recordMembers(batch)
    }

    private fun recordMembers(batch: ReaderBatch) {
        var reader = batch.first()
        while (reader != null) {
            val by = reader.by
            if (by != null) recordReader(reader.lockRequest.owner, by)
            reader = reader.next
        }
    }

    private fun unlink(waiter: Waiter) {
        intents.remove(waiter)
        uncountWaiter(waiter)
        if (waiter.mode == LockMode.WRITE) queuedWriters--
    }

    override fun isQueued(waiter: Waiter): Boolean = upgrading === waiter || intents.contains(waiter)

    override fun removeInflated(waiter: Waiter) {
        if (upgrading === waiter) {
            upgrading = null
            uncountWaiter(waiter)
        } else {
            unlink(waiter)
        }
        admitEligible()
    }

    protected fun withdrawReader(waiter: Waiter) {
        val request = waiter.lockRequest
        val batch = waiter.place as ReaderBatch
        if (batch.hasEnded) {
            endReadUnderLock(request.owner, waiter.by)
            return
        }
        batch.removeReader(waiter)
        uncountWaiter(waiter)
        val entry = request.owner?.let(owners::find)
        if (entry != null) {
            batch.ownedReaders--
            entry.removeWaiting()
            owners.removeIfEmpty(entry)
        }
    }

    internal companion object {
        /** Leaves room in an Int for the upgradable reader and for a writer that downgrades. */
        const val MAX_READERS = Int.MAX_VALUE - 2

        // Values of the word.
        const val UPGRADABLE = 1L shl 32
        const val WRITE_LOCKED = -1L
    }
}
