package baton.sync.readwrite.contract

import baton.sync.assertContains
import baton.waiting.Callers
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertInstanceOf
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Unlocking or changing a mode that is not held, in every state: it throws, and changes nothing. */
interface ReadWriteMisuse : ReadWriteFixture {
    private class Call(val name: String, val make: suspend (ReadWriteLockFace) -> Any?)

    private val calls: List<Call>
        get() =
            listOf(null, "a", "b").flatMap { owner ->
                val suffix = if (owner == null) "" else " $owner"
                listOf(
                    Call("unlockRead$suffix") { it.unlockRead(owner) },
                    Call("unlockWrite$suffix") { it.unlockWrite(owner) },
                    Call("unlockUpgradable$suffix") { it.unlockUpgradable(owner) },
                    Call("downgrade$suffix") { it.downgrade(owner) },
                    Call("upgrade$suffix") { it.upgrade(owner) },
                    Call("tryUpgrade$suffix") { it.tryUpgrade(owner) },
                )
            }

    @Test fun wrongCall_free_changesNothing() = check {}

    @Test
    fun wrongCall_read_changesNothing() {
        check("unlockRead") { it.lockRead() }
        check("unlockRead a") { it.lockRead("a") }
        check("unlockRead", "unlockRead a") {
            it.lockRead()
            it.lockRead("a")
        }
    }

    @Test
    fun wrongCall_written_changesNothing() {
        check("unlockWrite", "downgrade") { it.lockWrite() }
        check("unlockWrite a", "downgrade a") { it.lockWrite("a") }
    }

    @Test
    fun wrongCall_readUpgradably_changesNothing() {
        check("unlockUpgradable", "upgrade", "tryUpgrade") { it.lockUpgradable() }
        check("unlockUpgradable a", "upgrade a", "tryUpgrade a") { it.lockUpgradable("a") }
    }

    @Test
    fun wrongCall_readUpgradablyAndPlainly_changesNothing() {
        check("unlockUpgradable a", "upgrade a", "tryUpgrade a", "unlockRead b", "unlockRead") {
            it.lockUpgradable("a")
            it.lockRead("b")
            it.lockRead()
        }
        check("unlockUpgradable", "upgrade", "tryUpgrade", "unlockRead a") {
            it.lockUpgradable()
            it.lockRead("a")
        }
        // It would wait for itself.
        check("unlockUpgradable a", "unlockRead a") {
            it.lockUpgradable("a")
            it.lockRead("a")
        }
    }

    @Test
    fun wrongCall_upgrading_changesNothing() {
        check("unlockRead b") {
            it.lockUpgradable("a")
            it.lockRead("b")
            call { it.upgrade("a") }
        }
        check("unlockRead") {
            it.lockUpgradable()
            it.lockRead()
            call { it.upgrade() }
        }
    }

    @Test
    fun wrongCall_upgraded_changesNothing() {
        check("unlockWrite a", "downgrade a") {
            it.lockUpgradable("a")
            it.upgrade("a")
        }
        check("unlockWrite", "downgrade") {
            it.lockUpgradable()
            it.upgrade()
        }
    }

    @Test
    fun wrongCall_downgraded_changesNothing() {
        check("unlockRead a") {
            it.lockWrite("a")
            it.downgrade("a")
        }
        check("unlockRead") {
            it.lockUpgradable()
            it.upgrade()
            it.downgrade()
        }
    }

    /** Brings a lock to a state, with and without other waiters, and makes all calls but the [right] ones. */
    private fun check(vararg right: String, prepare: suspend Callers.(ReadWriteLockFace) -> Unit) = runTest {
        assertTrue(calls.map { it.name }.containsAll(right.toList()))
        for (crowded in listOf(false, true)) {
            for (call in calls.filter { it.name !in right }) {
                val lock = lock(name = "cache")
                Callers(this).prepare(lock)
                val isHeld = lock.isWriteLocked || lock.readers > 0
                val crowd = listOf(Access.WRITE, Access.READ, Access.UPGRADABLE).filter { crowded && isHeld }
                val waiters = crowd.map { Callers(this).call { it.lock(lock) } }
                val before = describe(lock)
                repeat(2) {
                    val failure = Callers(this).callAtOnce { call.make(lock) }.failure
                    assertInstanceOf(IllegalStateException::class.java, failure) { "${call.name}: $before" }
                    val verb = call.name.removePrefix("try").substringBefore(' ').replaceFirstChar(Char::lowercase)
                    assertContains(failure?.message, "cache", verb)
                    runCurrent()
                    assertEquals(before, describe(lock), call.name)
                    assertTrue(waiters.all { it.isWaiting })
                }
            }
        }
    }

    private fun describe(lock: ReadWriteLockFace) =
        "${lock.readers} readers ${lock.readHolders.map { "$it" }.sorted()}, written ${lock.isWriteLocked} by " +
            "${lock.writeHolder}, ${lock.waiting} wait"
}
