package baton.sync.condition

import baton.sync.mutex.MutexFace
import baton.waiting.Caller
import baton.waiting.Callers
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals

/** A condition and its callers, each an owner of its own: its name. */
class ConditionScene(val scope: TestScope, private val fixture: ConditionFixture) : ConditionFixture by fixture {
    val callers = Callers(scope)
    val condition: ConditionFace = fixture.condition()
    val mutex: MutexFace = condition.mutex
    private val byName = mutableMapOf<String, Caller>()

    operator fun get(name: String): Caller = byName.getValue(name)

    /** The callers come one after the other, lock, and wait. When they have been woken, they unlock. */
    fun come(vararg names: String) {
        for (name in names) byName[name] = callers.call(name) { condition.visit(name) }
    }

    /** The caller locks, and unlocks at once. */
    fun pass(name: String) {
        byName[name] = callers.call(name) { mutex.lock(name).also { mutex.unlock(name) } }
    }

    /** With the mutex held, on which others may queue meanwhile. */
    suspend fun hold(action: suspend ConditionFace.() -> Unit) {
        mutex.lock("holder")
        condition.action()
        mutex.unlock("holder")
    }

    fun cancel(vararg names: String) = names.forEach { get(it).cancel() }

    /** All that can run runs. Then the callers [served] so far, in that order, and the state. */
    fun assert(served: String, isLocked: Boolean = false, queued: Int = 0, waiting: Int = 0) {
        scope.runCurrent()
        assertEquals(served, callers.served.joinToString(" "))
        assertState(condition, isLocked, queued, waiting)
    }
}
