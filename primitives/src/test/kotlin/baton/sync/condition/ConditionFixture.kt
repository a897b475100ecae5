package baton.sync.condition

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
import org.junit.jupiter.api.Assertions.assertSame

/** The common part of the topics of the condition's contract. */
interface ConditionFixture : WaiterFixture {
    val factory: ConditionFactory

    /** Whether a waiter that is cancelled when it has the mutex, and before it runs, passes the signal on. */
    val passesSignalOn: Boolean
        get() = true

    override val waitingKinds: List<WaitingKind>
        get() =
            listOf(
                WaitingKind("await()", passesOn = passesSignalOn, keepsGrant = false) {
                    ConditionPlace(this, ConditionFace::signal)
                },
                WaitingKind("await(), signalAll()", grantsAll = true, keepsGrant = false) {
                    ConditionPlace(this, ConditionFace::signalAll)
                },
            )

    fun condition(mutex: String? = null, name: String? = null): ConditionFace = factory(mutex, name)

    fun scene(test: suspend ConditionScene.() -> Unit) = runTest { ConditionScene(this, this@ConditionFixture).test() }

    /** [queued] wait for the mutex, [waiting] for a signal. */
    fun assertState(condition: ConditionFace, isLocked: Boolean, queued: Int = 0, waiting: Int = 0) {
        val mutex = condition.mutex
        val state = "locked = ${mutex.isLocked}, queued = ${mutex.waiting}, waiting = ${condition.waiting}"
        assertEquals("locked = $isLocked, queued = $queued, waiting = $waiting", state)
    }

    /** Locks, waits for a signal, and unlocks however the wait ends. So it must hold the mutex then. */
    suspend fun ConditionFace.visit(owner: Any? = null) {
        mutex.lock(owner)
        try {
            await()
        } finally {
            assertSame(owner, mutex.holder)
            mutex.unlock(owner)
        }
    }
}

/** A waiter unlocks the mutex however its wait ends. */
private class ConditionPlace(private val fixture: ConditionFixture, private val wake: ConditionFace.() -> Unit) :
    WaitingPlace {
    private val condition = fixture.condition()

    override val waiting: Int
        get() = condition.waiting

    override suspend fun waitHere() = with(fixture) { condition.visit(Any()) }

    override suspend fun waitHere(timeout: Duration): Boolean {
        condition.mutex.lock()
        try {
            return condition.await(timeout)
        } finally {
            condition.mutex.unlock()
        }
    }

    override fun grant() {
        val lockAndWake = suspend {
            condition.mutex.lock()
            condition.wake()
            condition.mutex.unlock()
        }
        lockAndWake.startCoroutine(Continuation(EmptyCoroutineContext) { it.getOrThrow() })
    }

    override fun assertIdle(holders: Int) = fixture.assertState(condition, isLocked = false)
}

/**
 * The contract of a condition for every kind of waiter: a coroutine, a future, or both in one queue. It consists of
 * topics: an API that cannot do one of them implements the others.
 */
abstract class ConditionContract(override val factory: ConditionFactory) :
    WaiterContract, ConditionSignals, ConditionCancellation
