package baton.sync.readwrite.contract

import baton.waiting.Caller
import baton.waiting.Callers
import kotlinx.coroutines.test.TestScope
import kotlinx.coroutines.test.runCurrent
import org.junit.jupiter.api.Assertions.assertEquals

/**
 * A lock and its callers. The first letter of a name says what the caller wants: r reads, w writes, u reads upgradably.
 * If it [isOwned], each caller is an owner of its own.
 */
class ReadWriteScene(val scope: TestScope, val lock: ReadWriteLockFace, private val isOwned: Boolean) {
    val callers = Callers(scope)
    private val byName = mutableMapOf<String, Caller>()

    operator fun get(name: String): Caller = byName.getValue(name)

    fun owner(name: String): Any? = if (isOwned) name else null

    private fun access(name: String) =
        when (name.first()) {
            'r' -> Access.READ
            'w' -> Access.WRITE
            else -> Access.UPGRADABLE
        }

    /** The callers come one after the other. */
    fun come(vararg names: String) {
        for (name in names) byName[name] = callers.call(name) { access(name).lock(lock, owner(name)) }
    }

    /** They leave, and nothing else runs. */
    fun leave(vararg names: String) = names.forEach { access(it).unlock(lock, owner(it)) }

    /** The upgradable reader, whose caller is called "upgrade" from now on. */
    fun upgrade(name: String) {
        byName["upgrade"] = callers.call("upgrade") { lock.upgrade(owner(name)) }
    }

    fun leaveUpgraded(name: String) = lock.unlockWrite(owner(name))

    fun cancel(vararg names: String) = names.forEach { get(it).cancel() }

    /** All that can run runs. Then the callers [served] so far, in that order, and the state. */
    fun assert(served: String, readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        scope.runCurrent()
        assertEquals(served, callers.served.joinToString(" "))
        assertState(readers, written, waiting)
    }

    fun assertState(readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        val state = lock.run { "readers = ${this.readers}, written = $isWriteLocked, waiting = ${this.waiting}" }
        assertEquals("readers = $readers, written = $written, waiting = $waiting", state)
    }
}
