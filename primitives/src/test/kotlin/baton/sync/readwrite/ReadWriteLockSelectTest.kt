package baton.sync.readwrite

import baton.sync.ReadWriteLock
import baton.sync.ReadWritePolicy
import baton.waiting.Callers
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.test.advanceTimeBy
import kotlinx.coroutines.test.runCurrent
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** [ReadWriteLock.onRead] and [ReadWriteLock.onWrite] beside other clauses of one `select`. */
class ReadWriteLockSelectTest {
    private val lock = ReadWriteLock()

    private fun assertState(readers: Int = 0, written: Boolean = false, waiting: Int = 0) {
        val state = "${lock.readers} read, ${lock.isWriteLocked}, ${lock.waiting} wait"
        assertEquals("$readers read, $written, $waiting wait", state)
    }

    @Test
    fun onWrite_losesToATimeout_letsInTheReadersItHeldBack() = runTest {
        lock.lockRead()
        val selector =
            Callers(this).call {
                select {
                    lock.onWrite {}
                    onTimeout(50) {}
                }
            }
        val reader = Callers(this).call { lock.lockRead() }
        assertState(readers = 1, waiting = 2)
        advanceTimeBy(51)
        assertTrue(selector.isServed && reader.isServed)
        assertState(readers = 2)
    }

    @Test
    fun onReadAndOnWrite_ofOneLockThatIsFree_firstWinsAlone() = runTest {
        select {
            lock.onRead {}
            lock.onWrite {}
        }
        assertState(readers = 1)
        lock.unlockRead()
        select {
            lock.onWrite {}
            lock.onRead {}
        }
        assertState(written = true)
    }

    @Test
    fun onReadAndOnWrite_ofOneLockThatIsWritten_oneOfThemWins() = runTest {
        for (policy in ReadWritePolicy.entries) {
            for (first in listOf("read", "write")) {
                val lock = ReadWriteLock(policy)
                var won: String? = null
                lock.lockWrite()
                Callers(this).call {
                    select {
                        if (first == "read") lock.onRead { won = "read" }
                        lock.onWrite { won = "write" }
                        if (first == "write") lock.onRead { won = "read" }
                    }
                }
                assertEquals(2, lock.waiting)
                lock.unlockWrite()
                runCurrent()
                assertEquals(if (policy == ReadWritePolicy.WRITER_FIRST) "write" else "read", won)
                assertEquals(0, lock.waiting)
                if (won == "read") lock.unlockRead() else lock.unlockWrite()
                assertTrue(lock.tryLockWrite())
            }
        }
    }

    /** Its own clause to write holds back its clause to read; when the reader leaves, one of them wins all the same. */
    @Test
    fun onWriteThenOnRead_whileAnotherReads_oneOfThemWinsWhenItLeaves() = runTest {
        lock.lockRead()
        val selector =
            Callers(this).call {
                select {
                    lock.onWrite { lock.unlockWrite() }
                    lock.onRead { lock.unlockRead() }
                }
            }
        lock.unlockRead()
        runCurrent()
        assertTrue(selector.isServed)
        assertState()
    }

    @Test
    fun onRead_losersAmongACrowdLetIn_areNotCounted() = runTest {
        val channel = Channel<Int>(10)
        lock.lockWrite()
        val plain = Callers(this).call { lock.lockRead() }
        val selectors =
            List(10) {
                Callers(this).call {
                    select {
                        lock.onRead {}
                        channel.onReceive {}
                    }
                }
            }
        val writer = Callers(this).call { lock.lockWrite() }
        repeat(4) { channel.send(it) }
        lock.unlockWrite()
        runCurrent()
        assertTrue(plain.isServed && selectors.all { it.isServed })
        assertState(readers = 7, waiting = 1)
        repeat(7) { lock.unlockRead() }
        runCurrent()
        assertTrue(writer.isServed)
    }
}
