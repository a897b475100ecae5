package baton.sync

import baton.waiting.BoundedBypass
import baton.waiting.Waiter
import baton.waiting.WaiterBatch
import baton.waiting.Wakeup
import baton.waiting.boost.BoostableHolder
import baton.waiting.boost.Boosts
import baton.waiting.boost.PriorityInheritance
import kotlin.coroutines.CoroutineContext

/*
 * How it works
 *
 * One word, changed by compare-and-set:
 *
 *   n ≥ 0     n readers, of whom UPGRADABLE marks one more that may upgrade; nobody writes, nobody waits, no owners
 *   WRITE_LOCKED   a writer without an owner; nobody waits
 *   INFLATED   somebody waits or has given an owner: the ledger under the lock says who is in
 *   READERS_BLOCKED    the same, and a reader that comes now has to wait: only settle() says so
 *
 *              lockRead, unlockRead (±1), lockWrite, unlockWrite,
 *              lockUpgradable, upgrade, downgrade, ...           somebody waits, or comes with an owner
 *   n, WRITE_LOCKED ◀────────────────────────────────────▶ n, WRITE_LOCKED ◀────────────────────────────────────▶ INFLATED, READERS_BLOCKED
 *              anybody, without the lock                         under the lock: open() and settle()
 *
 * What stands under the lock is in [ReadWriteState], invariants 1 to 4. This file holds the operations and their fast
 * paths.
 */
internal class ReadWriteCore(policy: ReadWritePolicy, private val describe: () -> String) : ReadWriteState(policy) {
    val readersInside: Int
        get() {
            val seen = counter()
            if (seen >= 0) return readersIn(seen)
            return if (seen == WRITE_LOCKED) 0 else inside { readers + if (upgradable) 1 else 0 }
        }

    val isWritten: Boolean
        get() {
            val seen = counter()
            return seen == WRITE_LOCKED || (seen < 0 && inside { writing })
        }

    val waiting: Int get() = if (isGuarded(counter())) inside { waitingInside } else 0

    val writeHolder: Any? get() = if (isGuarded(counter())) inside { if (writing) intentOwner else null } else null

    val readHolders: List<Any> get() = if (isGuarded(counter())) inside { ownersThatRead() } else emptyList()

    /** Reads if nothing is in the way. False says that the caller has to wait, or to ask under the lock. */
    fun readAtOnce(): Boolean {
        while (true) {
            val seen = counter()
            if (seen < 0 || seen.toInt() == MAX_READERS) return false
            if (compareAndSet(seen, seen + 1)) return true
        }
    }

    fun writeAtOnce(): Boolean = compareAndSet(0, WRITE_LOCKED)

    private fun readUpgradablyAtOnce(): Boolean {
        while (true) {
            val seen = counter()
            if (seen < 0 || seen and UPGRADABLE != 0L) return false
            if (compareAndSet(seen, seen or UPGRADABLE)) return true
        }
    }

    /** [note] is what the caller will end reading with, if its owner does not say who it is. */
    fun tryRead(owner: Any?, note: BoostableHolder? = null): Outcome =
        when {
            owner == null && note == null && readAtOnce() -> Outcome.DONE
            owner == null && mustReaderWait() -> Outcome.BUSY
            else -> inside { readInside(owner, note) }
        }

    /** [by], here and below, is the coroutine that comes to hold it, if it can be lifted. */
    fun tryWrite(owner: Any?, by: CoroutineContext? = null): Outcome =
        when {
            owner == null && by == null && writeAtOnce() -> Outcome.DONE
            owner == null && mustWriterWait() -> Outcome.BUSY
            else -> inside { writeInside(owner, by) }
        }

    fun tryReadUpgradably(owner: Any?, by: CoroutineContext? = null): Outcome =
        when {
            owner == null && by == null && readUpgradablyAtOnce() -> Outcome.DONE
            else -> inside { readUpgradablyInside(owner, by) }
        }

    fun tryUpgrade(owner: Any?, by: CoroutineContext? = null): Outcome =
        when {
            owner == null && by == null && compareAndSet(UPGRADABLE, WRITE_LOCKED) -> Outcome.DONE
            else -> inside { upgradeInside(owner, by) }
        }

    fun leaveRead(owner: Any?, note: BoostableHolder? = null): Boolean {
        while (owner == null && note == null) {
            val seen = counter()
            if (seen < 0) break
            if (seen.toInt() == 0) return false
            if (compareAndSet(seen, seen - 1)) return true
        }
        return inside { leaveReadInside(owner, note) }
    }

    fun leaveWrite(owner: Any?): Boolean =
        (owner == null && compareAndSet(WRITE_LOCKED, 0)) || inside { leaveWriteInside(owner) }

    fun leaveUpgradable(owner: Any?): Boolean {
        while (owner == null) {
            val seen = counter()
            if (seen < 0) break
            if (seen and UPGRADABLE == 0L) return false
            if (compareAndSet(seen, seen xor UPGRADABLE)) return true
        }
        return inside { upgrading == null && leaveUpgradableInside(owner) }
    }

    fun downgrade(owner: Any?): Boolean =
        (owner == null && compareAndSet(WRITE_LOCKED, 1)) || inside { downgradeInside(owner) }

    /**
     * Whether a reader or writer that comes now has to wait; if not, it may still have to when it is asked under the
     * lock.
     */
    private fun mustReaderWait(): Boolean {
        val seen = counter()
        return seen == WRITE_LOCKED || seen == READERS_BLOCKED
    }

    private fun mustWriterWait(): Boolean {
        val seen = counter()
        return seen > 0 || seen == WRITE_LOCKED || seen == READERS_BLOCKED
    }

    // ---- who has to wait

    override fun enqueue(waiter: Waiter): Int {
        waiter.look()
        return inside { enqueueInside(waiter) }
    }

    private fun enqueueInside(waiter: Waiter): Int {
        val noted = waiter.tag as? NotedRequest
        val owner = if (noted == null) waiter.tag else noted.owner
        val outcome =
            when (waiter.weight) {
                READ -> readInside(owner, noted?.note)
                WRITE -> writeInside(owner, waiter.holder)
                READ_UPGRADABLY -> readUpgradablyInside(owner, waiter.holder)
                else -> upgradeInside(owner, waiter.holder)
            }
        when (outcome) {
            Outcome.DONE -> if (!waiter.tryGrant()) takeBackInside(waiter)
            Outcome.BUSY ->
                if (waiter.startWaiting()) {
                    // From here on a canceller may resume it: its state must not be read again, or both would.
                    lineUp(waiter, owner, noted?.note)
                    return Waiter.WAITING
                }
            else -> waiter.tryFail(ReadWriteRefusal(outcome, owner, whoIsBefore()))
        }
        return waiter.currentState
    }

    override fun withdraw(waiter: Waiter) {
        inside { withdrawInside(waiter) }
    }

    override fun takeBack(waiter: Waiter) {
        open()
        takeBackInside(waiter)
        settle()
    }

    override fun failure(waiter: Waiter): Throwable =
        (waiter.reason as ReadWriteRefusal).exception(waiter.weight, describe)

    /** Why [owner] got [outcome] when it asked for [weight]. Not under the lock. */
    fun refusal(outcome: Outcome, owner: Any?, weight: Int): IllegalStateException =
        ReadWriteRefusal(outcome, owner, inside { whoIsBefore() }).exception(weight, describe)

    private fun readersIn(word: Long) = word.toInt() + if (word and UPGRADABLE == 0L) 0 else 1
}

/** Readers that wait together; [owned] of them have given an owner. */
internal class ReaderBatch(private val ledger: ReadWriteState) : WaiterBatch() {
    var owned = 0

    /** How many of them wait at each level; null where none has one. */
    var levels: IntArray? = null
        private set

    fun joined(member: Waiter) {
        add(member)
        count(member, 1)
    }

    fun left(member: Waiter) {
        remove(member)
        count(member, -1)
    }

    private fun count(member: Waiter, change: Int) {
        val level = member.urgency.toInt()
        if (level == PriorityInheritance.NONE) return
        val levels = levels ?: IntArray(BoundedBypass.LEVELS).also { levels = it }
        levels[level] += change
    }

    override fun arrive(): Wakeup? {
        val first = super.arrive()
        if (Boosts.inUse) ledger.noteReaders(first)
        return first
    }
}
