package baton.sync.readwrite

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.sync.core.ReadWriteState
import baton.sync.withRead
import baton.sync.withWrite
import baton.waiting.Callers
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.advanceUntilIdle
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Bugs that have been shipped elsewhere, as far as the contract does not cover them already. */
class ReadWriteScenarioTest {
    private fun assertFree(lock: ReadWriteLock) {
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
        assertTrue(lock.tryLockWrite())
        lock.unlockWrite()
    }

    /** WiredTiger WT-5395, asterinas #2977, spin-rs #124: readers near their greatest number spoiled the state. */
    @Test
    fun lockRead_asManyAsThereMayBe_isRefusedAndChangesNothing() = runTest {
        for (owner in listOf(null, "t1")) {
            val lock = ReadWriteLock(name = "cache")
            setReaders(lock, MOST - 1)
            assertTrue(lock.tryLockRead(owner))
            repeat(3) {
                assertRefused { lock.tryLockRead() }
                assertRefused { lock.tryLockRead("t2") }
                assertRefused { lock.lockRead() }
                assertRefused { lock.tryLockRead(50.milliseconds, "t2") }
                assertEquals(MOST, lock.readers)
                assertFalse(lock.tryLockWrite())
            }
            assertTrue(lock.tryLockUpgradable())
            assertEquals(MOST + 1, lock.readers)
            assertFalse(lock.tryUpgrade())
            lock.unlockUpgradable()
            lock.unlockRead(owner)
            assertTrue(lock.tryLockRead())
            assertEquals(MOST, lock.readers)
        }
    }

    /** The same, when the waiters are admitted together: their number overflowed. */
    @Test
    fun lockRead_moreThanThereMayBeBehindAWriter_isRefused() = runTest {
        val lock = ReadWriteLock()
        setReaders(lock, MOST - 2)
        val writer = Callers(this).call { lock.lockWrite() }
        val readers = List(2) { Callers(this).call { lock.lockRead() } }
        assertRefused { lock.lockRead() }
        writer.cancel()
        runCurrent()
        assertTrue(readers.all { it.isServed })
        assertEquals(MOST, lock.readers)
    }

    @Test
    fun unlock_byWhoDoesNotHoldIt_saysWhoAskedAndHowItIsLocked() {
        val lock = ReadWriteLock(name = "cache")
        fun refusal(call: () -> Unit) = assertThrows<IllegalStateException> { call() }.message
        assertEquals("unlockRead of ReadWriteLock 'cache', which is not locked", refusal { lock.unlockRead() })
        assertEquals(
            "unlockWrite by Ann of ReadWriteLock 'cache', which is not locked",
            refusal { lock.unlockWrite("Ann") },
        )
        lock.tryLockWrite("Bob")
        assertEquals(
            "unlockRead without an owner of ReadWriteLock 'cache', which is locked to write by Bob",
            refusal { lock.unlockRead() },
        )
        lock.unlockWrite("Bob")
        lock.tryLockRead("Bob")
        assertEquals(
            "downgrade by Ann of ReadWriteLock 'cache', which is locked to read (readers = 1 (Bob))",
            refusal { lock.downgrade("Ann") },
        )
    }

    private suspend fun assertRefused(call: suspend () -> Unit) {
        val e = assertThrows<IllegalStateException> { call() }
        assertTrue("$MOST" in e.message!!)
    }

    /** Two billion calls take too long. */
    private fun setReaders(lock: ReadWriteLock, count: Int) {
        lock.core.word = count.toLong()
    }

    /** JDK-8023234: with readers admitted one by one, a barrier inside the section never trips. */
    @Test
    fun downgradeAndCancel_manyReadersWait_runAllTogether() = runTest {
        for (end in listOf("downgrade", "cancelled writer", "cancelled upgrade")) {
            val lock = ReadWriteLock()
            if (end == "downgrade") lock.lockWrite() else lock.lockRead()
            if (end == "cancelled upgrade") lock.lockUpgradable()
            val writer =
                when (end) {
                    "cancelled writer" -> Callers(this).call { lock.lockWrite() }
                    "cancelled upgrade" -> Callers(this).call { lock.upgrade() }
                    else -> null
                }
            val allAreIn = CompletableDeferred<Unit>()
            var inside = 0
            val readers =
                List(10) {
                    Callers(this).call {
                        lock.withRead {
                            if (++inside == 10) allAreIn.complete(Unit)
                            allAreIn.await()
                        }
                    }
                }
            assertEquals(0, inside)
            if (writer == null) lock.downgrade() else writer.cancel()
            runCurrent()
            assertTrue(readers.all { it.isServed }) { end }
        }
    }

    /** kotlinx PR #2045, never merged. */
    @Test
    fun anything_randomReadersAndWritersWithRandomCancels_invariantHoldsAndLockIsFreeInTheEnd() = runTest {
        for (policy in ReadWritePolicy.entries) {
            for (seed in 1..20) {
                val random = Random(seed)
                val lock = ReadWriteLock(policy)
                var readers = 0
                var writers = 0
                val jobs =
                    List(30) { i ->
                        val owner = if (random.nextBoolean()) "t$i" else null
                        val kind = random.nextInt(4)
                        val stay = random.nextLong(10)
                        launch {
                            delay(random.nextLong(20))
                            when (kind) {
                                0 ->
                                    lock.withWrite(owner) {
                                        writers++
                                        assertEquals("0 1", "$readers $writers", "$policy $seed")
                                        try {
                                            delay(stay)
                                        } finally {
                                            writers--
                                        }
                                    }
                                1 -> upgradeAndDowngrade(lock, owner, stay)
                                else ->
                                    lock.withRead(owner) {
                                        readers++
                                        assertEquals(0, writers, "$policy $seed")
                                        try {
                                            delay(stay)
                                        } finally {
                                            readers--
                                        }
                                    }
                            }
                        }
                    }
                repeat(30) {
                    advanceTimeBy(1)
                    jobs.random(random).cancel()
                }
                advanceUntilIdle()
                assertEquals("0 0", "$readers $writers")
                assertFree(lock)
            }
        }
    }

    private suspend fun upgradeAndDowngrade(lock: ReadWriteLock, owner: Any?, stay: Long) {
        lock.lockUpgradable(owner)
        var unlock = lock::unlockUpgradable
        try {
            delay(stay)
            if (!lock.tryUpgrade(stay.milliseconds, owner)) return
            unlock = lock::unlockWrite
            delay(stay)
            lock.downgrade(owner)
            unlock = lock::unlockRead
            delay(stay)
        } finally {
            unlock(owner)
        }
    }

    private companion object {
        private const val MOST = ReadWriteState.MAX_READERS
    }
}
