package baton.sync.readwrite.contract

import baton.NOW_OR_NEVER
import baton.sync.assertContains
import baton.sync.assertState
import baton.sync.countdown.assertState
import baton.sync.readwrite.assertFree
import baton.waiting.Callers
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.currentTime
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Waiting for a limited time, in virtual time. */
interface ReadWriteTimeouts : ReadWriteFixture {
    @Test
    fun timed_writerGivesUp_letsInTheReadersItHeldBack() = runTest {
        val lock = lock()
        lock.lockRead()
        val writer = Callers(this).call { lock.tryLockWrite(50.milliseconds) }
        val readers = List(3) { Callers(this).call { lock.lockRead() } }
        val upgradable = Callers(this).call { lock.lockUpgradable() }
        advanceTimeBy(51)
        assertTrue(writer.gaveUp && upgradable.isServed && readers.all { it.isServed })
        assertState(lock, readers = 5)
    }

    @Test
    fun timed_someOfTheReadersGiveUp_theOthersComeIn() = runTest {
        for (owner in listOf(null, "t1")) {
            val callers = Callers(this)
            val lock = lock()
            lock.lockWrite()
            for (i in 1..5) callers.call("$i") { lock.tryLockRead((10 * i).milliseconds, owner) }
            advanceTimeBy(31)
            assertState(lock, written = true, waiting = 2)
            lock.unlockWrite()
            runCurrent()
            assertEquals(listOf("4", "5"), callers.served)
            advanceTimeBy(100)
            assertState(lock, readers = 2)
            repeat(2) { lock.unlockRead(owner) }
            assertFree(lock)
        }
    }

    @Test
    fun timedUpgrade_noOtherReader_writesAtOnce() = runTest {
        for (timeout in NOW_OR_NEVER + listOf(50.milliseconds, Duration.INFINITE)) {
            val lock = lock()
            lock.lockUpgradable("t1")
            assertTrue(Callers(this).callAtOnce { lock.tryUpgrade(timeout, "t1") }.isServed)
            assertEquals("t1", lock.writeHolder)
        }
    }

    @Test
    fun timedUpgrade_othersStay_givesUpAndStillReadsUpgradably() = runTest {
        for (owner in listOf(null, "t1")) {
            val lock = lock()
            lock.lockRead()
            lock.lockUpgradable(owner)
            for (timeout in NOW_OR_NEVER) assertFalse(lock.tryUpgrade(timeout, owner))
            val upgrading = Callers(this).call { lock.tryUpgrade(50.milliseconds, owner) }
            val reader = Callers(this).call { lock.lockRead() }
            assertState(lock, readers = 2, waiting = 2)
            advanceTimeBy(51)
            assertTrue(upgrading.gaveUp && reader.isServed)
            assertState(lock, readers = 3)
            repeat(2) { lock.unlockRead() }
            assertTrue(lock.tryUpgrade(50.milliseconds, owner))
            lock.unlockWrite(owner)
            assertFree(lock)
        }
    }

    @Test
    fun timedUpgrade_othersLeaveInTime_writes() = runTest {
        val lock = lock()
        lock.lockRead()
        lock.lockUpgradable()
        launch {
            delay(49)
            lock.unlockRead()
        }
        assertTrue(lock.tryUpgrade(50.milliseconds))
        assertEquals(49, currentTime)
        advanceTimeBy(100)
        assertState(lock, written = true)
    }

    @Test
    fun timed_wouldWaitForItself_throwsAtOnce() = runTest {
        val lock = lock(name = "cache")
        lock.lockRead("t1")
        Callers(this).call { lock.lockWrite("t2") }
        for (access in Access.entries) {
            val e = assertThrows<IllegalStateException> { access.tryLock(lock, 50.milliseconds, "t1") }
            assertContains(e.message, "cache", "t1")
        }
        assertFalse(lock.tryLockRead(Duration.ZERO, "t1"))
        assertEquals(0, currentTime)
        assertState(lock, readers = 1, waiting = 1)
    }
}
