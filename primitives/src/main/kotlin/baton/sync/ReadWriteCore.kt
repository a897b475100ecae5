package baton.sync

import baton.waiting.Crowd
import baton.waiting.FifoLine
import baton.waiting.PaddedCounter
import baton.waiting.Waiter

/*
 * How it works
 *
 * One word, changed by compare-and-set:
 *
 *   n ≥ 0     n readers, of whom UPGRADABLE marks one more that may upgrade; nobody writes, nobody waits, no owners
 *   WRITTEN   a writer without an owner; nobody waits
 *   GUARDED   somebody waits or has given an owner: the ledger under the lock says who is in
 *   BARRED    the same, and a reader that comes now has to wait: only settle() says so
 *
 *              lockRead, unlockRead (±1), lockWrite, unlockWrite,
 *              lockUpgradable, upgrade, downgrade, ...                 somebody waits, or comes with an owner
 *   n, WRITTEN ◀──────────────────────────────────────────▶ n, WRITTEN ◀────────────────────────────────────▶ GUARDED, BARRED
 *              anybody, without the lock                               under the lock: open() and settle()
 *
 * The ledger, meaningful while GUARDED or BARRED:
 *
 *   readers, upgradable, writing   who is in; readers does not count the upgradable one
 *   intentOwner                    owner of the writer or of the upgradable reader
 *   owned, owners                  how many of the readers came with an owner, and which
 *   intents                        who waits to write or to read upgradably, first come, first served
 *   upgrading                      the upgradable reader that waits for the others to leave
 *   gathering                      the readers that wait, to be let in together
 *
 * (1) writing excludes readers and upgradable; upgrading implies upgradable.
 * (2) Nobody waits at a lock that nobody holds.
 * (3) Readers gather only while mayRead() is false. Every change that could make it true ends in advance().
 * (4) A crowd of readers is let in by one step: the ledger counts all of it, and the crowd decides on its members when the
 *     lock is free. Who was cancelled in between finds its crowd ended and leaves as any reader does.
 * (5) The word leaves GUARDED and BARRED as soon as nobody waits and no owner is left: then the fast paths are open again.
 *
 * The phases of PHASE_FAIR are those of Brandenburg and Anderson, "Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems" (2010).
 */
internal class ReadWriteCore(
    private val policy: ReadWritePolicy,
    private val describe: () -> String,
) : PaddedCounter() {
    private var readers = 0
    private var upgradable = false
    private var writing = false
    private var intentOwner: Any? = null
    private var owned = 0
    private val owners = ReadOwners()
    private val intents = FifoLine()
    private var writersInLine = 0
    private var upgrading: Waiter? = null
    private var gathering: ReaderCrowd? = null

    // ---- what is to be seen

    val readersInside: Int
        get() {
            val seen = counter()
            if (seen >= 0) return readersIn(seen)
            return if (seen == WRITTEN) 0 else inside { readers + if (upgradable) 1 else 0 }
        }

    val isWritten: Boolean
        get() {
            val seen = counter()
            return seen == WRITTEN || (seen < 0 && inside { writing })
        }

    val waiting: Int
        get() = if (isGuarded(counter())) inside { intents.size + gatheringSize + if (upgrading == null) 0 else 1 } else 0

    val writeHolder: Any? get() = if (isGuarded(counter())) inside { if (writing) intentOwner else null } else null

    val readHolders: List<Any> get() = if (isGuarded(counter())) inside { ownersThatRead() } else emptyList()

    private fun ownersThatRead(): List<Any> {
        val plainly = owners.holders()
        val upgradably = if (upgradable) intentOwner else null
        return if (upgradably == null || holdsToRead(upgradably)) plainly else plainly + upgradably
    }

    private val gatheringSize: Int get() = gathering?.size ?: 0

    // ---- without the lock

    /** Reads if nothing is in the way. False says that the caller has to wait, or to ask under the lock. */
    fun readAtOnce(): Boolean {
        while (true) {
            val seen = counter()
            if (seen < 0 || seen.toInt() == MAX_READERS) return false
            if (compareAndSet(seen, seen + 1)) return true
        }
    }

    fun writeAtOnce(): Boolean = compareAndSet(0, WRITTEN)

    private fun readUpgradablyAtOnce(): Boolean {
        while (true) {
            val seen = counter()
            if (seen < 0 || seen and UPGRADABLE != 0L) return false
            if (compareAndSet(seen, seen or UPGRADABLE)) return true
        }
    }

    fun tryRead(owner: Any?): Outcome =
        when {
            owner == null && readAtOnce() -> Outcome.DONE
            owner == null && mustReaderWait() -> Outcome.BUSY
            else -> inside { readInside(owner) }
        }

    fun tryWrite(owner: Any?): Outcome =
        when {
            owner == null && writeAtOnce() -> Outcome.DONE
            owner == null && mustWriterWait() -> Outcome.BUSY
            else -> inside { writeInside(owner) }
        }

    fun tryReadUpgradably(owner: Any?): Outcome =
        if (owner == null && readUpgradablyAtOnce()) Outcome.DONE else inside { readUpgradablyInside(owner) }

    fun tryUpgrade(owner: Any?): Outcome =
        if (owner == null && compareAndSet(UPGRADABLE, WRITTEN)) Outcome.DONE else inside { upgradeInside(owner) }

    fun leaveRead(owner: Any?): Boolean {
        while (owner == null) {
            val seen = counter()
            if (seen < 0) break
            if (seen.toInt() == 0) return false
            if (compareAndSet(seen, seen - 1)) return true
        }
        return inside { leaveReadInside(owner) }
    }

    fun leaveWrite(owner: Any?): Boolean =
        (owner == null && compareAndSet(WRITTEN, 0)) || inside { leaveWriteInside(owner) }

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
        (owner == null && compareAndSet(WRITTEN, 1)) || inside { downgradeInside(owner) }

    /** Whether a reader or writer that comes now has to wait; if not, it may still have to when it is asked under the lock. */
    private fun mustReaderWait(): Boolean {
        val seen = counter()
        return seen == WRITTEN || seen == BARRED
    }

    private fun mustWriterWait(): Boolean {
        val seen = counter()
        return seen > 0 || seen == WRITTEN || seen == BARRED
    }

    // ---- under the lock

    private inline fun <T> inside(crossinline decision: () -> T): T =
        decide {
            open()
            val result = decision()
            settle()
            result
        }

    /** Takes the word into the ledger. */
    private fun open() {
        while (true) {
            val seen = counter()
            if (isGuarded(seen)) return
            if (!compareAndSet(seen, GUARDED)) continue
            writing = seen == WRITTEN
            readers = if (writing) 0 else seen.toInt()
            upgradable = !writing && seen and UPGRADABLE != 0L
            return
        }
    }

    /** Invariant 5. Nobody else changes the word meanwhile. */
    private fun settle() {
        val free = intents.size + gatheringSize == 0 && upgrading == null && intentOwner == null && owners.isEmpty
        val settled =
            when {
                !free -> if (mayRead()) GUARDED else BARRED
                writing -> WRITTEN
                else -> readers + if (upgradable) UPGRADABLE else 0L
            }
        if (counter() != settled) setCounter(settled)
    }

    private fun mayRead() =
        !writing && (policy == ReadWritePolicy.READER_FIRST || (writersInLine == 0 && upgrading == null))

    private fun holdsToRead(owner: Any) = owners.find(owner)?.holds == true

    private fun readInside(owner: Any?): Outcome =
        when {
            owner != null && writing && intentOwner === owner -> Outcome.HELD
            readers == MAX_READERS -> Outcome.FULL
            mayRead() -> {
                readers++
                if (owner != null) {
                    owned++
                    owners.entry(owner).hold()
                }
                Outcome.DONE
            }
            // Whoever it would wait for waits for this owner to leave.
            owner != null && !writing && (holdsToRead(owner) || intentOwner === owner) -> Outcome.DEADLOCK
            else -> Outcome.BUSY
        }

    private fun writeInside(owner: Any?): Outcome =
        when {
            owner != null && (intentOwner === owner || holdsToRead(owner)) -> Outcome.HELD
            writing || upgradable || readers > 0 || intents.size > 0 -> Outcome.BUSY
            else -> {
                writing = true
                intentOwner = owner
                Outcome.DONE
            }
        }

    private fun readUpgradablyInside(owner: Any?): Outcome =
        when {
            owner != null && intentOwner === owner -> Outcome.HELD
            owner != null && holdsToRead(owner) && (writersInLine > 0 || upgrading != null) -> Outcome.DEADLOCK
            writing || upgradable || intents.size > 0 -> Outcome.BUSY
            else -> {
                upgradable = true
                intentOwner = owner
                Outcome.DONE
            }
        }

    private fun upgradeInside(owner: Any?): Outcome =
        when {
            !upgradable || intentOwner !== owner || upgrading != null -> Outcome.NOT_HELD
            owner != null && holdsToRead(owner) -> Outcome.DEADLOCK
            readers > 0 -> Outcome.BUSY
            else -> {
                upgradable = false
                writing = true
                Outcome.DONE
            }
        }

    override fun enqueue(waiter: Waiter, announced: Boolean): Int = inside { enqueueInside(waiter) }

    private fun enqueueInside(waiter: Waiter): Int {
        val owner = waiter.tag
        val outcome =
            when (waiter.weight) {
                READ -> readInside(owner)
                WRITE -> writeInside(owner)
                READ_UPGRADABLY -> readUpgradablyInside(owner)
                else -> upgradeInside(owner)
            }
        when (outcome) {
            Outcome.DONE -> if (!waiter.tryGrant()) takeBackInside(waiter)
            Outcome.BUSY ->
                if (waiter.startWaiting()) {
                    // From here on a canceller may resume it: its state must not be read again, or both would.
                    lineUp(waiter, owner)
                    return Waiter.WAITING
                }
            else -> waiter.tryFail(Refusal(outcome, owner, whoWrites()))
        }
        return waiter.currentState
    }

    private fun lineUp(waiter: Waiter, owner: Any?) {
        when (waiter.weight) {
            READ -> {
                val crowd = gathering ?: ReaderCrowd(this).also { gathering = it }
                crowd.add(waiter)
                waiter.tag = crowd
                if (owner != null) {
                    val entry = owners.entry(owner)
                    entry.wait(crowd)
                    crowd.owned++
                    waiter.tag = OwnedPlace(crowd, entry)
                }
            }
            UPGRADE -> upgrading = waiter
            else -> {
                intents.add(waiter)
                if (waiter.weight == WRITE) writersInLine++
            }
        }
    }

    /** The owner of whom a refused reader would wait for: of the writer inside, or of the first in line. */
    private fun whoWrites(): Any? {
        if (writing || upgrading != null) return intentOwner
        var first = intents.head()
        while (first != null && first.weight != WRITE) first = first.next
        return first?.tag
    }

    // ---- leaving

    private fun leaveReadInside(owner: Any?): Boolean {
        if (owner == null) {
            if (readers == owned) return false
        } else {
            val entry = owners.find(owner)
            if (entry == null || !entry.holds) return false
            entry.release()
            owners.removeIfEmpty(entry)
            owned--
        }
        readers--
        advance()
        return true
    }

    private fun leaveWriteInside(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        writing = false
        intentOwner = null
        nextPhase()
        return true
    }

    private fun leaveUpgradableInside(owner: Any?): Boolean {
        if (!upgradable || intentOwner !== owner) return false
        upgradable = false
        intentOwner = null
        advance()
        return true
    }

    private fun downgradeInside(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        writing = false
        intentOwner = null
        readers = 1
        if (owner != null) {
            owned = 1
            owners.entry(owner).hold()
        }
        nextPhase()
        return true
    }

    /** A writer has left. */
    private fun nextPhase() {
        if (policy != ReadWritePolicy.WRITER_FIRST) letReadersIn()
        advance()
    }

    /** Lets in whoever may come in now. */
    private fun advance() {
        val upgrade = upgrading
        if (upgrade != null && readers == 0) {
            upgrading = null
            if (upgrade.tryGrant()) {
                upgradable = false
                writing = true
                wake(upgrade)
            }
        }
        while (!writing && !upgradable) {
            val head = intents.head() ?: break
            if (head.weight == WRITE && readers > 0) break
            unlink(head)
            if (!head.tryGrant()) continue
            if (head.weight == WRITE) writing = true else upgradable = true
            intentOwner = head.tag
            wake(head)
        }
        if (mayRead()) letReadersIn()
    }

    private fun letReadersIn() {
        val crowd = gathering ?: return
        if (crowd.size == 0) return
        gathering = null
        readers += crowd.size
        owned += crowd.owned
        crowd.end()
        wake(crowd)
    }

    private fun unlink(waiter: Waiter) {
        intents.remove(waiter)
        if (waiter.weight == WRITE) writersInLine--
    }

    override fun withdraw(waiter: Waiter) {
        inside {
            when (waiter.weight) {
                READ -> withdrawReader(waiter)
                UPGRADE ->
                    if (upgrading === waiter) {
                        upgrading = null
                        advance()
                    }
                else ->
                    if (waiter.linked) {
                        unlink(waiter)
                        advance()
                    }
            }
        }
    }

    private fun withdrawReader(waiter: Waiter) {
        val place = waiter.tag as? OwnedPlace
        val crowd = place?.crowd ?: waiter.tag as ReaderCrowd
        if (crowd.hasEnded) {
            leaveReadInside(place?.entry?.owner)
            return
        }
        crowd.remove(waiter)
        if (place != null) {
            crowd.owned--
            place.entry.leave()
            owners.removeIfEmpty(place.entry)
        }
    }

    override fun takeBack(waiter: Waiter) {
        open()
        takeBackInside(waiter)
        settle()
    }

    /** False answers are for the misuse of others: somebody has left in this waiter's place. */
    private fun takeBackInside(waiter: Waiter) {
        val tag = waiter.tag
        when (waiter.weight) {
            READ -> leaveReadInside(if (tag is OwnedPlace) tag.entry.owner else tag.takeIf { it !is ReaderCrowd })
            WRITE -> leaveWriteInside(tag)
            READ_UPGRADABLY -> if (upgrading == null) leaveUpgradableInside(tag)
            else ->
                if (writing && intentOwner === tag) {
                    writing = false
                    upgradable = true
                    advance()
                }
        }
    }

    override fun unannounce(weight: Int) {}

    override fun failure(waiter: Waiter): Throwable = (waiter.tag as Refusal).exception(waiter.weight)

    /** Why [owner] got [outcome] when it asked for [weight]. Not under the lock. */
    fun refusal(outcome: Outcome, owner: Any?, weight: Int): IllegalStateException =
        Refusal(outcome, owner, inside { whoWrites() }).exception(weight)

    private inner class Refusal(val outcome: Outcome, val owner: Any?, val writer: Any?) {
        fun exception(weight: Int): IllegalStateException {
            val asked = "${CALLS[weight]} by ${if (owner == null) "a caller without an owner" else nameOf(owner)}"
            val writer = if (writer == null) "a writer without an owner" else "the writer ${nameOf(writer)}"
            val why =
                when (outcome) {
                    Outcome.HELD -> "is refused: this owner holds it already, and would wait for itself"
                    Outcome.DEADLOCK if weight == UPGRADE -> "would wait for ever: this owner holds it to read as well"
                    Outcome.DEADLOCK ->
                        "would wait for ever: $writer comes first, and waits for this owner, who is inside already"
                    Outcome.FULL -> "is refused: there are $MAX_READERS readers, which is the most"
                    else -> "is refused: it is not held upgradably by this caller, or is being upgraded already"
                }
            return IllegalStateException("$asked $why: ${describe()}")
        }
    }

    private class OwnedPlace(val crowd: ReaderCrowd, val entry: ReadOwners.Entry)

    internal enum class Outcome { DONE, BUSY, HELD, DEADLOCK, FULL, NOT_HELD }

    internal companion object {
        // The weights: what a waiter waits for.
        const val READ = 1
        const val WRITE = 2
        const val READ_UPGRADABLY = 3
        const val UPGRADE = 4

        private const val MAX_READERS = Int.MAX_VALUE - 1 // with the upgradable one an Int

        private val CALLS = listOf("", "lockRead", "lockWrite", "lockUpgradable", "upgrade")

        private const val UPGRADABLE = 1L shl 32
        private const val WRITTEN = -1L
        private const val GUARDED = -2L
        private const val BARRED = -3L

        private fun isGuarded(word: Long) = word <= GUARDED

        private fun readersIn(word: Long) = word.toInt() + if (word and UPGRADABLE == 0L) 0 else 1
    }
}

/** Readers that wait together; [owned] of them have given an owner. */
internal class ReaderCrowd(core: ReadWriteCore) : Crowd(core) {
    var owned = 0
}
