package baton.sync.barrier

import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.mutex.MutexContract
import baton.waiting.Caller
import baton.waiting.Callers
import baton.waiting.causes
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf

/** The common part of the topics of the barrier's contract. */
interface BarrierFixture {
    val factory: BarrierFactory

    fun barrier(
        parties: Int,
        onCancel: BarrierCancellation = BarrierCancellation.RETRACT,
        name: String? = null,
        action: (suspend () -> Unit)? = null,
    ): BarrierFace = factory(parties, onCancel, name, action)

    fun assertState(barrier: BarrierFace, waiting: Int, isBroken: Boolean = false) {
        val state = "waiting = ${barrier.waiting}, broken = ${barrier.isBroken}"
        assertEquals("waiting = $waiting, broken = $isBroken", state)
    }

    /** The barrier works: [parties] arrive and get their numbers. */
    fun Callers.assertWhole(barrier: BarrierFace) {
        val indices = mutableListOf<Int>()
        repeat(barrier.parties) { call { indices += barrier.arrive() } }
        assertEquals((0..<barrier.parties).toSet(), indices.toSet())
        assertEquals(barrier.parties, indices.size)
        assertState(barrier, waiting = 0)
    }

    /** The exception as it was thrown first (see [causes]). */
    fun assertBroken(caller: Caller): BarrierBrokenException {
        assertInstanceOf(BarrierBrokenException::class.java, caller.failure) { "$caller" }
        return caller.failure!!.causes().filterIsInstance<BarrierBrokenException>().last()
    }
}

/**
 * The contract of a barrier for every kind of caller: a suspend function, a future, or both at one barrier. It consists
 * of topics, as [MutexContract] does.
 */
abstract class BarrierContract(override val factory: BarrierFactory) :
    BarrierTrips,
    BarrierCancellations,
    BarrierActions,
    BarrierResets
