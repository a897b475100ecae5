package baton.memory

import baton.sync.Mutex
import baton.sync.ReadWriteLock
import baton.sync.Semaphore
import baton.waiting.WaitCore
import baton.waiting.holders.BoostingDispatcher
import baton.waiting.holders.Boosts
import baton.waiting.holders.Holder
import baton.waiting.holders.callerOf
import com.sun.management.ThreadMXBean
import java.lang.management.ManagementFactory
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test

/** The decision that grants a lock to a known caller cannot fail for want of memory: what it needs is there before. */
class HoldersMemoryTest {
    private val threads = ManagementFactory.getThreadMXBean() as ThreadMXBean
    private val boosting = BoostingDispatcher()

    init {
        Boosts.begin()
    }

    @AfterEach
    fun end() {
        Boosts.inUse = false
    }

    /** [take] takes a new lock, whose core [coreOf] knows, for a caller. */
    private fun <L> assertAllocatesNothing(create: () -> L, coreOf: (L) -> WaitCore, take: (L, Holder) -> Any) {
        val bytes =
            List(ROUNDS) {
                val lock = create()
                val caller = checkNotNull(coreOf(lock).callerOf(boosting, owner = null))
                val before = threads.currentThreadAllocatedBytes
                take(lock, caller)
                threads.currentThreadAllocatedBytes - before
            }
        // The JVM allocates for itself when it loads or compiles a class, but not in each round.
        assertEquals(0L, bytes.min(), "$bytes")
    }

    @Test
    fun mutex_lock_allocatesNothing() =
        assertAllocatesNothing({ Mutex() }, { it.core }) { mutex, by -> mutex.core.tryLock(null, by) }

    @Test
    fun semaphore_acquire_allocatesNothing() =
        assertAllocatesNothing({ Semaphore(1) }, { it.core }) { semaphore, by -> semaphore.core.tryTakePermits(1, by) }

    @Test
    fun readWriteLock_lockWrite_allocatesNothing() =
        assertAllocatesNothing({ ReadWriteLock() }, { it.core }) { lock, by -> lock.core.tryWrite(null, by) }

    @Test
    fun readWriteLock_lockRead_allocatesNothing() =
        assertAllocatesNothing({ ReadWriteLock() }, { it.core }) { lock, by -> lock.core.tryRead(null, by) }

    @Test
    fun readWriteLock_lockUpgradable_allocatesNothing() =
        assertAllocatesNothing({ ReadWriteLock() }, { it.core }) { lock, by -> lock.core.tryReadUpgradably(null, by) }

    private companion object {
        const val ROUNDS = 100
    }
}
