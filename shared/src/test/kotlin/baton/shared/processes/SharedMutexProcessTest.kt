package baton.shared.processes

import baton.shared.SharedRegion
import java.time.Duration
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Tag
import org.junit.jupiter.api.Test

@Tag("jdk")
class SharedMutexProcessTest : ChildProcesses() {
    @Test
    fun increments_ofFourProcesses_areExact() {
        val each = 1_000_000
        val counters = List(4) { start("count", "$each") }
        counters.forEach { it.expect("counted") }
        SharedRegion.open(path).use {
            val bytes = it.bytes("counter", GuardedSections.SIZE)
            it.mutex("counter").lockBlocking().use { assertFalse(it.abandoned) }
            assertEquals(4L * each, GuardedSections(bytes).sections)
        }
    }

    @Test
    fun holder_thatIsKilled_leavesTheLockAbandonedUntilItIsMarkedConsistent() {
        SharedRegion.open(path).use { region ->
            val mutex = region.mutex("counter")
            val holder = start("hold")
            holder.expect("held")
            assertNull(mutex.tryLock())
            assertNull(mutex.lockBlocking(Duration.ofMillis(50)))
            assertEquals(holder.pid(), mutex.holder)
            kill(holder)
            assertEquals(holder.pid(), mutex.holder)
            mutex.lockBlocking().use { assertTrue(it.abandoned) }
            assertNull(mutex.holder)
            mutex.lockBlocking().use {
                assertTrue(it.abandoned)
                it.markConsistent()
            }
            mutex.lockBlocking().use { assertFalse(it.abandoned) }
        }
    }

    @Test
    fun waiter_thatIsKilled_leavesNothingBehind() {
        SharedRegion.open(path).use { region ->
            val mutex = region.mutex("counter")
            val lock = mutex.lockBlocking()
            val waiter = start("wait")
            waiter.expect("waiting")
            kill(waiter)
            lock.close()
            mutex.lockBlocking().use { assertFalse(it.abandoned) }
        }
    }

    @Test
    fun waiter_ofAKilledProcess_getsTheLockMarked() {
        val holder = start("hold")
        holder.expect("held")
        val waiter = start("wait")
        waiter.expect("waiting")
        kill(holder)
        waiter.expect("locked true")
    }

    @Test
    fun holder_thatExitsNormally_countsAsDead() {
        SharedRegion.open(path).use { region ->
            val holder = start("hold", "leave")
            holder.expect("held")
            holder.outputWriter().close()
            holder.waitFor()
            region.mutex("counter").lockBlocking().use { assertTrue(it.abandoned) }
        }
    }

    @Test
    fun holder_thatIsPaused_isNotRobbed() {
        SharedRegion.open(path).use { region ->
            val mutex = region.mutex("counter")
            val holder = start("hold")
            holder.expect("held")
            signal("STOP", holder)
            assertNull(mutex.lockBlocking(Duration.ofMillis(500)))
            signal("CONT", holder)
            holder.tell("close")
            holder.expect("closed")
            mutex.lockBlocking().use { assertFalse(it.abandoned) }
        }
    }

    /** A claim of a slot by the byte alone once robbed a live holder. */
    @Test
    fun holder_whoseWitnessIsLost_isNotRobbedByWaitersNorNewcomers() {
        val holder = start("hold", "stray")
        holder.expect("held")
        SharedRegion.open(path).use { region ->
            assertTrue("slot 2," in region.toString(), "$region")
            val mutex = region.mutex("counter")
            assertNull(mutex.lockBlocking(Duration.ofMillis(300)))
            kill(holder)
            mutex.lockBlocking().use { assertTrue(it.abandoned) }
        }
    }
}
