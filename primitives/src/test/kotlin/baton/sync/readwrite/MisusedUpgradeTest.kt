package baton.sync.readwrite

import baton.sync.ReadWriteLock
import baton.sync.StepDispatcher
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.GlobalScope
import kotlinx.coroutines.async
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/**
 * A caller upgrades the lock that was granted to another caller, which is then cancelled. The bug: the cancelled
 * caller's release admitted the next request, which read beside the writer that the upgrade became.
 */
class MisusedUpgradeTest {
    private val dispatcher = StepDispatcher()
    private val lock = ReadWriteLock()

    private fun start(call: suspend () -> Unit) = GlobalScope.async(dispatcher, CoroutineStart.UNDISPATCHED) { call() }

    private fun drain() {
        var stepped = true
        while (stepped) stepped = dispatcher.step()
    }

    @Test
    fun upgradeInThePlaceOfACancelledOne_isWhatIsHeld() {
        check(lock.tryLockRead() && lock.tryLockUpgradable())
        val granted = start { lock.lockUpgradable() }
        val next = start { lock.lockUpgradable() }
        lock.unlockUpgradable()
        val upgrade = start { lock.upgrade() }
        granted.cancel()
        drain()
        assertTrue(granted.isCancelled)
        assertFalse(next.isCompleted)
        lock.unlockRead()
        drain()
        assertTrue(upgrade.isCompleted && lock.isWriteLocked)
        assertEquals(0, lock.readers)
        assertFalse(next.isCompleted)
        lock.unlockWrite()
        drain()
        assertTrue(next.isCompleted)
        lock.unlockUpgradable()
        assertFree(lock)
    }
}
