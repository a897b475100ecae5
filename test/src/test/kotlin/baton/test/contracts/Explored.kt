package baton.test.contracts

import baton.sync.barrier.BarrierFactory
import baton.sync.barrier.BarrierFixture
import baton.sync.barrier.KotlinBarrierFace
import baton.sync.mutex.KotlinMutexTest
import baton.sync.mutex.MixedMutexTest
import baton.sync.mutex.SelectMutexTest
import baton.sync.readwrite.KotlinReadWriteLockTest
import baton.sync.readwrite.MixedReadWriteLockTest
import baton.sync.semaphore.KotlinSemaphoreTest
import baton.sync.semaphore.MixedSemaphoreTest
import baton.sync.semaphore.SelectSemaphoreTest
import baton.test.ExploreScope
import baton.test.explore
import baton.waiting.contract.WaiterFixture
import baton.waiting.contract.WaitingKind
import baton.waiting.contract.WaitingPlace

/** The orders of each test, and where they come from: chosen once, so that a failure repeats. */
internal const val RUNS = 300
internal const val SEED = 17L

/** A [kind] of waiting, of the contract that [fixture] runs on one of the APIs. */
internal class Explored(private val fixture: WaiterFixture, val kind: WaitingKind) {
    /** With a place of its own for each order; most orders cancel one of the coroutines. */
    fun run(body: suspend ExploreScope.(WaitingPlace) -> Unit) =
        explore(RUNS, SEED, cancels = true) { body(kind.create()) }

    override fun toString() = "${fixture.javaClass.simpleName}: $kind"
}

internal fun explored(fixtures: List<WaiterFixture>, isMeant: WaitingKind.() -> Boolean = { true }): List<Explored> =
    fixtures.flatMap { fixture -> fixture.waitingKinds.filter(isMeant).map { Explored(fixture, it) } }

internal val semaphores = listOf(KotlinSemaphoreTest(), SelectSemaphoreTest(), MixedSemaphoreTest())

internal val mutexes = listOf(KotlinMutexTest(), SelectMutexTest(), MixedMutexTest())

internal val locks = listOf(KotlinReadWriteLockTest(), MixedReadWriteLockTest())

internal val smallBarrier =
    object : BarrierFixture {
        override val factory: BarrierFactory = { parties, onCancel, name, action ->
            KotlinBarrierFace(parties, onCancel, name, action)
        }

        override val places = 4
    }
