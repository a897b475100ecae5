package baton.sync.barrier

import baton.sync.BarrierBrokenException
import baton.sync.BarrierCancellation
import baton.sync.BarrierTimeoutException
import baton.sync.mutex.MutexContract
import baton.waiting.Caller
import baton.waiting.causes
import baton.waiting.contract.WaiterContract
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace
import kotlin.coroutines.Continuation
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.startCoroutine
import kotlin.time.Duration
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertInstanceOf

/** The common part of the topics of the barrier's contract. */
interface BarrierFixture : WaiterFixture {
    val factory: BarrierFactory

    /** The parties of a barrier at which the rules of waiting are checked: more than wait at a time there. */
    val places: Int
        get() = 150

    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(
                WaitingKind("arrive()", grantsAll = true, keepsGrant = false) { BarrierPlace(barrier(places)) },
                WaitingKind("arrive(), an action", grantsAll = true, keepsGrant = false) {
                    BarrierPlace(barrier(places) {})
                },
            )

    fun barrier(
        parties: Int,
        onCancel: BarrierCancellation = BarrierCancellation.RETRACT,
        name: String? = null,
        action: (suspend () -> Unit)? = null,
    ): BarrierFace = factory(parties, onCancel, name, action)

    fun scene(
        parties: Int,
        onCancel: BarrierCancellation = BarrierCancellation.RETRACT,
        isGated: Boolean = false,
        test: suspend BarrierScene.() -> Unit,
    ) = runTest { BarrierScene(this, this@BarrierFixture, parties, onCancel, isGated).test() }

    fun eachReaction(parties: Int, isGated: Boolean = false, test: suspend BarrierScene.(BarrierCancellation) -> Unit) {
        for (onCancel in BarrierCancellation.entries) scene(parties, onCancel, isGated) { test(onCancel) }
    }

    fun assertState(barrier: BarrierFace, waiting: Int, isBroken: Boolean = false) {
        val state = "waiting = ${barrier.waiting}, broken = ${barrier.isBroken}"
        assertEquals("waiting = $waiting, broken = $isBroken", state)
    }

    /** The exception as it was thrown first (see [causes]). */
    fun assertBroken(caller: Caller): BarrierBrokenException {
        assertInstanceOf(BarrierBrokenException::class.java, caller.failure) { "$caller" }
        return caller.failure!!.causes().filterIsInstance<BarrierBrokenException>().last()
    }
}

/** A grant is the arrival of all the parties that are missing. */
private class BarrierPlace(private val barrier: BarrierFace) : WaitingPlace {
    override val waiting: Int
        get() = barrier.waiting

    override suspend fun waitHere() {
        barrier.arrive()
    }

    override suspend fun waitHere(timeout: Duration): Boolean =
        try {
            barrier.arrive(timeout)
            true
        } catch (_: BarrierTimeoutException) {
            false
        }

    override fun grant() =
        repeat(barrier.parties - barrier.waiting) {
            suspend { barrier.arrive() }.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
        }

    override fun assertIdle(holders: Int) {
        assertEquals(0, barrier.waiting)
        assertFalse(barrier.isBroken)
        grant()
        assertEquals(0, barrier.waiting)
    }
}

/**
 * The contract of a barrier for every kind of caller: a suspend function, a future, or both at one barrier. It consists
 * of topics, as [MutexContract] does.
 */
abstract class BarrierContract(override val factory: BarrierFactory) :
    WaiterContract, BarrierTrips, BarrierCancellations, BarrierActions, BarrierResets
