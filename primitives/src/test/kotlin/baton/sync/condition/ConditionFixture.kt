package baton.sync.condition

import baton.waiting.Caller
import baton.waiting.Callers
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue

/** The common part of the topics of the condition's contract. */
interface ConditionFixture {
    val factory: ConditionFactory

    fun condition(mutex: String? = null, name: String? = null): ConditionFace = factory(mutex, name)

    /** [queued] wait for the mutex, [waiting] for a signal. */
    fun assertState(condition: ConditionFace, isLocked: Boolean, queued: Int = 0, waiting: Int = 0) {
        val mutex = condition.mutex
        val state = "locked = ${mutex.isLocked}, queued = ${mutex.waiting}, waiting = ${condition.waiting}"
        assertEquals("locked = $isLocked, queued = $queued, waiting = $waiting", state)
    }

    fun assertContains(message: String?, vararg parts: Any) {
        for (part in parts) {
            assertTrue(message.orEmpty().contains(part.toString())) { "\"$message\" does not contain $part" }
        }
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

    fun Callers.visitor(condition: ConditionFace, name: String = "visitor", owner: Any? = null): Caller =
        call(name) { condition.visit(owner) }

    suspend fun ConditionFace.lockAndSignal() {
        mutex.lock()
        signal()
        mutex.unlock()
    }
}

/**
 * The contract of a condition for every kind of waiter: a coroutine, a future, or both in one queue. It consists of
 * topics: an API that cannot do one of them implements the others.
 */
abstract class ConditionContract(override val factory: ConditionFactory) :
    ConditionSignals,
    ConditionOwners,
    ConditionCancellation
