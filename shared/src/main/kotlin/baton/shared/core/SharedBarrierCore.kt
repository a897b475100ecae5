package baton.shared.core

import baton.shared.region.RegionMember
import baton.shared.region.SharedMemory
import baton.shared.region.SharedObject
import baton.shared.waiting.ChangeWord
import baton.shared.word.BarrierWord
import baton.shared.word.BarrierWord.Outcome
import baton.sync.BarrierBrokenException
import baton.sync.BarrierTimeoutException
import baton.waiting.Parking
import baton.waiting.ThreadWaiter
import kotlin.time.Duration
import kotlinx.coroutines.withTimeoutOrNull

/**
 * ```
 * +0 u32 word to wait for, see WakeWord     +8 u64 word     +16 u64 resets     table: an entry per slot
 * ```
 *
 * For the word, the resets and the entries see BarrierWord.
 * 1. A caller that arrived in a phase waits until the word tells the outcome of that phase.
 * 2. A caller that leaves without the outcome breaks the phase, unless the phase is over. The end of the region breaks
 *    it for all callers of this member.
 * 3. The entry of this member is written under [monitor], by arrivals in the order of their phases, and never after the
 *    end of the region.
 * 4. An entry of an earlier owner of our slot belongs to a dead one. It is looked at when the barrier is opened, before
 *    the entry is used.
 */
internal class SharedBarrierCore(
    private val memory: SharedMemory,
    shared: SharedObject,
    val name: String,
    val parties: Int,
) : RegionMember {
    private val words = shared.words
    private val table = shared.table
    private val changes = ChangeWord(memory, words)
    private val watch = changes.newWatch()
    private val monitor = Any()

    init {
        breakIfArrived(memory.slot) { it != memory.generation }
    }

    val isBroken: Boolean
        get() = BarrierWord.isBroken(word)

    private val word: Long
        get() = words.getLong(WORD)

    /** Null: no [timeout]. */
    suspend fun arrive(timeout: Duration?): Int =
        arrive(timeout) { phase ->
            if (timeout == null) awaitOutcome(phase) else withTimeoutOrNull(timeout) { awaitOutcome(phase) }
        }

    fun arriveBlocking(timeout: Duration?): Int {
        ThreadWaiter.throwIfInterrupted()
        return arrive(timeout) { phase ->
            breakingOnFailure(phase) {
                watch.awaitBlocking(timeout?.inWholeNanoseconds ?: Parking.FOREVER, ::breakForTheDead) { end(phase) }
                    ?: null.also { breakPhase(phase) }
            }
        }
    }

    /** [await] returns null after the timeout. */
    private inline fun arrive(timeout: Duration?, await: (Int) -> Outcome?): Int {
        val before = enter(timeout)
        if (isLast(before)) return indexOf(before)
        val phase = BarrierWord.phaseOf(before)
        // A phase that has tripped before the timeout could break it has released this caller, too.
        val outcome = await(phase) ?: outcomeNow(phase).takeIf { it == Outcome.TRIPPED }
        if (outcome == Outcome.BROKEN) throw broken()
        return if (outcome == null) throw late(timeout) else indexOf(before)
    }

    private fun outcomeNow(phase: Int): Outcome {
        memory.check()
        return outcomeOf(phase, word)
    }

    private fun outcomeOf(phase: Int, seen: Long): Outcome = BarrierWord.outcomeOf(phase, seen, words.getLong(RESETS))

    /** Arrives, and returns the word before that. A caller without time to wait arrives as the last one, or not. */
    private fun enter(timeout: Duration?): Long {
        var before: Long
        synchronized(monitor) {
            memory.check()
            do {
                before = word
                if (BarrierWord.isBroken(before)) throw broken()
                if (timeout != null && timeout <= Duration.ZERO && !isLast(before)) {
                    breakPhase(BarrierWord.phaseOf(before))
                    throw late(timeout)
                }
                table.setLong(entryAt(memory.slot), BarrierWord.entry(memory.generation, BarrierWord.phaseOf(before)))
            } while (!words.casLong(WORD, before, BarrierWord.arrived(before, parties)))
        }
        if (isLast(before)) changes.announce()
        return before
    }

    private suspend fun awaitOutcome(phase: Int): Outcome =
        breakingOnFailure(phase) { watch.await(::breakForTheDead) { end(phase) } }

    /** The outcome of [phase]; null while it waits. */
    private fun end(phase: Int): Outcome? = outcomeOf(phase, word).takeIf { it != Outcome.WAITING }

    private inline fun <T> breakingOnFailure(phase: Int, await: () -> T): T {
        try {
            return await()
        } catch (e: Throwable) {
            // After the end of the region the memory may be lost, and regionEnded has broken the phase.
            if (memory.isOpen) breakPhase(phase)
            throw e
        }
    }

    private fun breakPhase(phase: Int) {
        while (true) {
            val seen = word
            if (outcomeOf(phase, seen) != Outcome.WAITING) return
            if (words.casLong(WORD, seen, BarrierWord.broken(seen))) return changes.announce()
        }
    }

    private fun breakForTheDead() {
        for (slot in 1..memory.highestSlot) {
            if (slot != memory.slot) breakIfArrived(slot) { !memory.isAlive(slot, it) }
        }
    }

    /** Breaks the current phase, if the member of [slot] has arrived in it and its generation is [meant]. */
    private inline fun breakIfArrived(slot: Int, meant: (Int) -> Boolean) {
        val entry = table.getLong(entryAt(slot))
        val seen = word
        if (BarrierWord.isInPhase(entry, seen) && meant(BarrierWord.generationOf(entry))) {
            breakPhase(BarrierWord.phaseOf(seen))
        }
    }

    fun reset() {
        memory.check()
        do {
            val seen = word
            noteReset(seen)
        } while (!words.casLong(WORD, seen, BarrierWord.reset(seen)))
        changes.announce()
    }

    private fun noteReset(seen: Long) {
        do {
            val resets = words.getLong(RESETS)
        } while (!words.casLong(RESETS, resets, BarrierWord.withReset(resets, seen)))
    }

    fun checkOpen() = memory.check()

    override fun regionEnded(isUsable: Boolean) {
        synchronized(monitor) { if (isUsable) breakIfArrived(memory.slot) { it == memory.generation } }
        if (isUsable) changes.announce()
    }

    private fun isLast(before: Long) = BarrierWord.arrivedOf(before) + 1 == parties

    private fun indexOf(before: Long) = parties - 1 - BarrierWord.arrivedOf(before)

    private fun entryAt(slot: Int) = slot * Long.SIZE_BYTES

    private fun broken() = BarrierBrokenException("$this is broken, or was reset while the caller waited")

    private fun late(timeout: Duration?) = BarrierTimeoutException("not all arrived within $timeout: ${describe()}")

    fun describe(): String {
        if (!memory.isOpen) return "$this (parties = $parties, ended)"
        val seen = word
        val state = if (BarrierWord.isBroken(seen)) "broken" else "arrived = ${BarrierWord.arrivedOf(seen)}"
        return "$this (parties = $parties, $state)"
    }

    override fun toString(): String = "SharedBarrier '$name' of ${memory.path}"

    private companion object {
        const val WORD = 8
        const val RESETS = 16
    }
}
