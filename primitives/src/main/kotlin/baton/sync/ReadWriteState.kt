package baton.sync

import baton.waiting.FifoWaitQueue
import baton.waiting.PaddedCounter
import baton.waiting.Waiter
import baton.waiting.Wakeup
import baton.waiting.boost.BoostableHolder
import baton.waiting.boost.enters
import baton.waiting.boost.goes
import baton.waiting.boost.holds
import baton.waiting.boost.holdsNoMore
import baton.waiting.boost.joins
import baton.waiting.boost.leaveTogether
import baton.waiting.boost.leaves
import kotlin.coroutines.CoroutineContext

/*
 * Who is in and who waits, under the lock; meaningful while the word is INFLATED or READERS_BLOCKED (see ReadWriteCore.kt):
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
 * (4) A crowd of readers is let in by one step: the ledger counts all of it, and the crowd decides on its members
 *     when the lock is free. Who was cancelled in between finds its crowd ended and leaves as any reader does.
 * (5) The word leaves INFLATED and READERS_BLOCKED as soon as nobody waits and neither owner nor noted holder is left: then the
 *     fast paths are open again.
 * (6) Who writes or reads upgradably is noted if it can be lifted (see PriorityInheritance), in the step that lets it in. So
 *     is a reader whose end can be told from that of others, by its owner or by its note; one of a crowd is noted by
 *     the thread that wakes the crowd, before it is woken.
 *
 * The phases of PHASE_FAIR are those of Brandenburg and Anderson, "Spin-Based Reader-Writer Synchronization for
 * Multiprocessor Real-Time Systems" (2010).
 */
internal abstract class ReadWriteState(private val policy: ReadWritePolicy) : PaddedCounter() {
    protected var readers = 0
    protected var upgradable = false
    protected var writing = false
    protected var intentOwner: Any? = null
    private var owned = 0
    private val owners = ReadOwners()
    private val intents = FifoWaitQueue()
    private var writersInLine = 0
    protected var upgrading: Waiter? = null
    private var gathering: ReaderBatch? = null

    fun ownersThatRead(): List<Any> {
        val plainly = owners.holders()
        val upgradably = if (upgradable) intentOwner else null
        return if (upgradably == null || holdsToRead(upgradably)) plainly else plainly + upgradably
    }

    private val gatheringSize: Int get() = gathering?.size ?: 0

    /** How many wait. */
    protected val waitingInside: Int get() = intents.size + gatheringSize + if (upgrading == null) 0 else 1

    inline fun <T> inside(crossinline decision: () -> T): T =
        decide {
            open()
            val result = decision()
            settle()
            result
        }

    /** Takes the word into the ledger. */
    fun open() {
        while (true) {
            val seen = counter()
            if (isGuarded(seen)) return
            if (!compareAndSet(seen, INFLATED)) continue
            writing = seen == WRITE_LOCKED
            readers = if (writing) 0 else seen.toInt()
            upgradable = !writing && seen and UPGRADABLE != 0L
            return
        }
    }

    /** Invariant 5. Nobody else changes the word meanwhile. */
    fun settle() {
        val free = waitingInside == 0 && intentOwner == null && owners.isEmpty && inheritance?.hasHolder != true
        val settled =
            when {
                !free -> if (mayRead()) INFLATED else READERS_BLOCKED
                writing -> WRITE_LOCKED
                else -> readers + if (upgradable) UPGRADABLE else 0L
            }
        if (counter() != settled) setCounter(settled)
    }

    private fun mayRead() =
        !writing && (policy == ReadWritePolicy.READER_FIRST || (writersInLine == 0 && upgrading == null))

    private fun holdsToRead(owner: Any) = owners.find(owner)?.holds == true

    fun readInside(owner: Any?, note: BoostableHolder?): Outcome =
        when {
            owner != null && writing && intentOwner === owner -> Outcome.HELD
            // Those who gather may be let in before anybody leaves.
            readers >= MAX_READERS - gatheringSize -> Outcome.FULL
            mayRead() -> {
                readers++
                if (owner != null) {
                    owned++
                    owners.entry(owner).hold()
                }
                if (note != null) noteReader(owner, note)
                Outcome.DONE
            }
            // Whoever it would wait for waits for this owner to leave.
            owner != null && !writing && (holdsToRead(owner) || intentOwner === owner) -> Outcome.DEADLOCK
            else -> Outcome.BUSY
        }

    /** A reader that is in. */
    private fun noteReader(owner: Any?, note: BoostableHolder) {
        if (owner != null) {
            val entry = owners.find(owner)
            if (entry == null || !entry.holds || entry.note != null) return
            entry.note = note
        }
        enters(note)
    }

    /** Not under the lock: those of a crowd who were let in and are not woken yet. */
    fun noteReaders(first: Wakeup?) {
        var reader = first as Waiter?
        while (reader != null) {
            val place = reader.tag as? NotedPlace
            if (place?.note != null) inside { noteReader(place.owner, place.note) }
            reader = reader.chain as Waiter?
        }
    }

    fun writeInside(owner: Any?, by: CoroutineContext?): Outcome =
        when {
            owner != null && (intentOwner === owner || holdsToRead(owner)) -> Outcome.HELD
            writing || upgradable || readers > 0 || intents.size > 0 -> Outcome.BUSY
            else -> {
                writing = true
                intentOwner = owner
                holds(by)
                Outcome.DONE
            }
        }

    fun readUpgradablyInside(owner: Any?, by: CoroutineContext?): Outcome =
        when {
            owner != null && intentOwner === owner -> Outcome.HELD
            writing || upgradable || intents.size > 0 ->
                // Whoever it would wait for may come to wait for this owner to leave.
                if (owner != null && holdsToRead(owner)) Outcome.DEADLOCK else Outcome.BUSY
            else -> {
                upgradable = true
                intentOwner = owner
                holds(by)
                Outcome.DONE
            }
        }

    fun upgradeInside(owner: Any?, by: CoroutineContext?): Outcome =
        when {
            !upgradable || intentOwner !== owner || upgrading != null -> Outcome.NOT_HELD
            owner != null && holdsToRead(owner) -> Outcome.DEADLOCK
            readers > 0 -> Outcome.BUSY
            else -> {
                upgradable = false
                writing = true
                noteUpgraded(by)
                Outcome.DONE
            }
        }

    /** One that was not known when it began to read upgradably may be so now. */
    private fun noteUpgraded(by: CoroutineContext?) {
        if (by != null && inheritance?.hasSole != true) holds(by)
    }

    fun lineUp(waiter: Waiter, owner: Any?, note: BoostableHolder?) {
        joins(waiter)
        when (waiter.weight) {
            READ -> {
                val crowd = gathering ?: ReaderBatch(this).also { gathering = it }
                crowd.joined(waiter)
                waiter.tag = crowd
                val entry = if (owner == null) null else owners.entry(owner)
                if (entry != null) {
                    entry.wait(crowd)
                    crowd.owned++
                }
                if (entry != null || note != null) waiter.tag = NotedPlace(crowd, entry, note)
            }
            UPGRADE -> upgrading = waiter
            else -> {
                intents.add(waiter)
                if (waiter.weight == WRITE) writersInLine++
            }
        }
    }

    /** The owner of whom a refused reader would wait for: of the writer inside, or of the first in line. */
    fun whoIsBefore(): Any? {
        if (writing || upgrading != null) return intentOwner
        var first = intents.head()
        while (first != null && first.weight != WRITE) first = first.next
        return if (first == null) intentOwner else first.tag
    }

    fun leaveReadInside(owner: Any?, note: BoostableHolder? = null): Boolean {
        if (owner == null) {
            if (note != null) goes(note)
            if (readers == owned) return false
        } else {
            val entry = owners.find(owner)
            if (entry == null || !entry.holds) return false
            entry.release()
            val noted = entry.note
            if (noted != null && !entry.holds) {
                goes(noted)
                entry.note = null
            }
            owners.removeIfEmpty(entry)
            owned--
        }
        readers--
        advance()
        return true
    }

    fun leaveWriteInside(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        writing = false
        intentOwner = null
        holdsNoMore()
        nextPhase()
        return true
    }

    fun leaveUpgradableInside(owner: Any?): Boolean {
        if (!upgradable || intentOwner !== owner) return false
        upgradable = false
        intentOwner = null
        holdsNoMore()
        advance()
        return true
    }

    fun downgradeInside(owner: Any?): Boolean {
        if (!writing || intentOwner !== owner) return false
        writing = false
        intentOwner = null
        readers = 1
        val note = inheritance?.takeSole()
        if (owner != null) {
            owned = 1
            val entry = owners.entry(owner)
            entry.hold()
            entry.note = note
        } else if (note != null) {
            // Which of the readers ends will not be known.
            goes(note)
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
            leaves(upgrade)
            if (upgrade.tryGrant()) {
                upgradable = false
                writing = true
                noteUpgraded(upgrade.holder)
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
            holds(head.holder)
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
        crowd.levels?.let { leaveTogether(it) }
        crowd.end()
        wake(crowd)
    }

    private fun unlink(waiter: Waiter) {
        intents.remove(waiter)
        leaves(waiter)
        if (waiter.weight == WRITE) writersInLine--
    }

    fun withdrawInside(waiter: Waiter) {
        when (waiter.weight) {
            READ -> withdrawReader(waiter)
            UPGRADE ->
                if (upgrading === waiter) {
                    upgrading = null
                    leaves(waiter)
                    advance()
                }
            else ->
                if (waiter.linked) {
                    unlink(waiter)
                    advance()
                }
        }
    }

    private fun withdrawReader(waiter: Waiter) {
        val place = waiter.tag as? NotedPlace
        val crowd = place?.crowd ?: waiter.tag as ReaderBatch
        if (crowd.hasEnded) {
            leaveReadInside(place?.owner, place?.note)
            return
        }
        crowd.left(waiter)
        leaves(waiter)
        val entry = place?.entry
        if (entry != null) {
            crowd.owned--
            entry.leave()
            owners.removeIfEmpty(entry)
        }
    }

    /** False answers are for the misuse of others: somebody has left in this waiter's place. */
    fun takeBackInside(waiter: Waiter) {
        val tag = waiter.tag
        when (waiter.weight) {
            READ ->
                when (tag) {
                    is NotedPlace -> leaveReadInside(tag.owner, tag.note)
                    is NotedRequest -> leaveReadInside(tag.owner, tag.note)
                    is ReaderBatch -> leaveReadInside(null)
                    else -> leaveReadInside(tag)
                }
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

    /** What became of a request. */
    internal enum class Outcome { DONE, BUSY, HELD, DEADLOCK, FULL, NOT_HELD }

    internal companion object {
        // The weights: what a waiter waits for.
        const val READ = 1
        const val WRITE = 2
        const val READ_UPGRADABLY = 3
        const val UPGRADE = 4

        /** With the upgradable one, and a writer that becomes a reader, still an Int. */
        const val MAX_READERS = Int.MAX_VALUE - 2

        // The word.
        const val UPGRADABLE = 1L shl 32
        const val WRITE_LOCKED = -1L
        const val INFLATED = -2L
        const val READERS_BLOCKED = -3L

        fun isGuarded(word: Long) = word <= INFLATED
    }
}
