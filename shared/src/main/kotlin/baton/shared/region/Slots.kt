package baton.shared.region

import baton.shared.SharedRegionException
import java.nio.channels.FileLock

/**
 * One slot for each open region, and who of the owners is dead.
 *
 * The witness of a life is the lock on the slot's byte. It can be lost without a death: any close of the side file
 * elsewhere in the process drops it. So a free byte alone proves nothing: while the recorded process runs, its slot is
 * neither dead nor free for a newcomer. In another pid namespace that second look is impossible, and the byte decides.
 *
 * A slot is claimed under the init lock. Its generation changes with each claim, so that words, counts and entries of
 * an earlier owner are told apart; it has 20 bits, as in a word.
 */
internal class Slots(private val words: Words, private val live: LiveFile, private val region: String) {
    /** Highest slot that was ever claimed: no need to look at those above. */
    val highest: Int
        get() = words.getInt(RegionLayout.HIGHEST_SLOT_AT)

    /** Generation of the last claim of [slot]; 0 if there was none. */
    fun generationOf(slot: Int): Int = words.getInt(RegionLayout.slotAt(slot) + RegionLayout.SLOT_GENERATION)

    /** Process that claimed [slot] as [generation]; null if it has given the slot back, or another claim followed. */
    fun pidOf(slot: Int, generation: Int): Long? {
        val pid = words.getInt(RegionLayout.slotAt(slot) + RegionLayout.SLOT_PID)
        return if (pid == 0 || generationOf(slot) != generation) null else pid.toLong()
    }

    /** Under the init lock. */
    fun claim(canWake: Boolean): Claim {
        for (slot in 1 until RegionLayout.SLOT_COUNT) {
            val witness = live.tryWitness(slot) ?: continue
            if (processOf(slot).isRunning()) witness.release() else return claim(slot, witness, canWake)
        }
        throw SharedRegionException("$region: all ${RegionLayout.SLOT_COUNT - 1} slots for members are taken")
    }

    private fun claim(slot: Int, witness: FileLock, canWake: Boolean): Claim {
        val at = RegionLayout.slotAt(slot)
        val generation = generationOf(slot) % MAX_GENERATION + 1
        val process = ProcessIdentity.current
        words.setInt(at + RegionLayout.SLOT_PID, 0)
        words.setInt(at + RegionLayout.SLOT_GENERATION, generation)
        words.setLong(at + RegionLayout.SLOT_TICKS, process.startTicks)
        words.setLong(at + RegionLayout.SLOT_NAMESPACE, process.namespace)
        words.setInt(at + RegionLayout.SLOT_CAPABILITIES, if (canWake) RegionLayout.CAN_WAKE else 0)
        words.setLong(at + RegionLayout.SLOT_JOINED_AT, System.currentTimeMillis())
        words.setInt(at + RegionLayout.SLOT_PID, process.pid)
        if (slot > highest) words.setInt(RegionLayout.HIGHEST_SLOT_AT, slot)
        return Claim(slot, generation, witness)
    }

    /** Gives the slot back. The caller has given up all that it held. */
    fun release(claim: Claim) {
        words.setInt(RegionLayout.slotAt(claim.slot) + RegionLayout.SLOT_PID, 0)
        claim.witness.release()
    }

    /**
     * Whether the owner that claimed [slot] as [generation] may still act. False is final. It costs a system call or
     * two: ask once per slice of a wait.
     */
    fun isAlive(slot: Int, generation: Int): Boolean {
        if (generationOf(slot) != generation) return false
        val witness = live.tryWitness(slot) ?: return generationOf(slot) == generation
        try {
            return generationOf(slot) == generation && processOf(slot).isRunning()
        } finally {
            witness.release()
        }
    }

    /** Whether a living member cannot wake waiters. */
    fun anyCannotWake(): Boolean =
        (1..highest).any {
            val at = RegionLayout.slotAt(it)
            val cannotWake = words.getInt(at + RegionLayout.SLOT_CAPABILITIES) and RegionLayout.CAN_WAKE == 0
            cannotWake && words.getInt(at + RegionLayout.SLOT_PID) != 0 && isAlive(it, generationOf(it))
        }

    private fun processOf(slot: Int): ProcessIdentity {
        val at = RegionLayout.slotAt(slot)
        val ticks = words.getLong(at + RegionLayout.SLOT_TICKS)
        return ProcessIdentity(
            words.getInt(at + RegionLayout.SLOT_PID),
            ticks,
            words.getLong(at + RegionLayout.SLOT_NAMESPACE),
        )
    }

    /** @property witness referenced as long as the slot is held: the JVM forgets a lock that it has collected. */
    class Claim(val slot: Int, val generation: Int, val witness: FileLock)

    companion object {
        const val MAX_GENERATION = 0xFFFFF
    }
}
