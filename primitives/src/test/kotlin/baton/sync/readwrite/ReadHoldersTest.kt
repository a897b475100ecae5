package baton.sync.readwrite

import baton.sync.ReadWriteLock
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** An owner that read plainly and upgradably stood in the list twice. */
class ReadHoldersTest {
    @Test
    fun ownerThatReadsPlainlyAndUpgradably_isNamedOnce() =
        runTest {
            val lock = ReadWriteLock()
            lock.lockRead("ann")
            lock.lockUpgradable("ann")
            assertEquals(listOf<Any>("ann"), lock.readHolders)
            assertEquals(2, lock.readers)
            lock.unlockRead("ann")
            assertEquals(listOf<Any>("ann"), lock.readHolders)
            lock.unlockUpgradable("ann")
            assertEquals(emptyList<Any>(), lock.readHolders)
        }
}
