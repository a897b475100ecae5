package baton.stack

import baton.sync.LateDispatcher
import baton.sync.ReadWriteLock
import kotlinx.coroutines.Job
import kotlinx.coroutines.selects.select
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource

/** Many readers and writers, each of which admits the next. Runs with a small stack. */
class ReadWriteStackTest : StackRun() {
    private val lock = ReadWriteLock().also { it.tryLockWrite() }

    private fun assertAllDone() {
        assertEquals(MANY, done + failed)
        assertEquals("ReadWriteLock (free, waiting = 0)", "$lock")
    }

    @ParameterizedTest
    @EnumSource(names = ["UNCONFINED", "NO_DISPATCHER"])
    fun writersAndReaders_takeTurns(world: World) {
        repeat(MANY / 2) {
            start(world.context) {
                lock.lockWrite()
                start(world.context) {
                    lock.lockRead()
                    lock.unlockRead()
                }
                lock.unlockWrite()
            }
        }
        lock.unlockWrite()
        assertAllDone()
    }

    @ParameterizedTest
    @EnumSource(names = ["UNCONFINED", "NO_DISPATCHER"])
    fun writersAndReadersInSelects_takeTurns(world: World) {
        repeat(MANY / 2) {
            start(world.context) {
                select {
                    lock.onWrite {
                        start(world.context) { select { lock.onRead { lock.unlockRead() } } }
                        lock.unlockWrite()
                    }
                }
            }
        }
        lock.unlockWrite()
        assertAllDone()
    }

    @ParameterizedTest
    @EnumSource(names = ["UNCONFINED", "NO_DISPATCHER"])
    fun readersInOneCrowd_comeInAndLeave(world: World) {
        repeat(MANY) {
            start(world.context) {
                lock.lockRead()
                lock.unlockRead()
            }
        }
        assertEquals(MANY, lock.waiting)
        lock.unlockWrite()
        assertAllDone()
    }

    /** Each upgrades, writes, goes back to reading, and leaves. */
    @ParameterizedTest
    @EnumSource(names = ["UNCONFINED", "NO_DISPATCHER"])
    fun upgradableReaders_oneAfterTheOther(world: World) {
        repeat(MANY) {
            start(world.context) {
                lock.lockUpgradable()
                lock.upgrade()
                lock.downgrade()
                lock.unlockRead()
            }
        }
        lock.unlockWrite()
        assertAllDone()
    }

    /** Admitted, then cancelled before they run: readers leave one by one, and writers pass the lock on. */
    @Test
    fun crowdAndWriters_cancelledBeforeTheyRun() {
        val late = LateDispatcher()
        val job = Job()
        repeat(MANY / 2) {
            start(late + job) { lock.lockWrite() }
            start(late + job) { lock.lockRead() }
        }
        late.run()
        lock.unlockWrite()
        assertEquals(MANY / 2, lock.readers)
        job.cancel()
        late.run()
        assertAllDone()
    }
}
