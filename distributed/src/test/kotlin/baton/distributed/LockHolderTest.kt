package baton.distributed

import baton.PermitTimeoutException
import baton.reportingTo
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The holders of a lock, as each member knows them, in virtual time. */
class LockHolderTest : ClusterFixture() {
    @Test
    fun timeout_namesTheHolder() = cluster {
        val one = cluster("one").mutex("account")
        val other = cluster("other").mutex("account")
        assertFalse(one.isLocked)
        val lease = one.lock()
        val failure = runCatching { other.withLock(1.seconds) {} }.exceptionOrNull()
        assertTrue(failure is PermitTimeoutException, "$failure")
        assertTrue(", held by 'one' since " in checkNotNull(failure?.message), failure?.message)
        assertTrue(other.isLocked)
        assertEquals("one", other.holder?.member)
        lease.release()
        other.withLock { assertEquals("other", other.holder?.member) }
        assertEquals(1, other.holder?.permits)
    }

    @Test
    fun holdersOfASemaphore_haveTheirPermits() = cluster {
        val one = cluster("one").semaphore("uplink", permits = 5)
        val other = cluster("other").semaphore("uplink", permits = 5)
        one.acquire(3)
        other.acquire(2)
        assertEquals(mapOf("one" to 3, "other" to 2), other.holders.associate { it.member to it.permits })
        val failure = runCatching { other.withPermits(2, 1.seconds) {} }.exceptionOrNull()
        assertTrue("(3 permits), 'other' since" in checkNotNull(failure?.message), failure?.message)
    }

    @Test
    fun heartbeatOfACluster_hasAnAge() = cluster {
        val one = cluster("one")
        assertEquals(0, one.usage().inUse)
        one.mutex("account").withLock {}
        delay(2.seconds)
        assertEquals(2_000, one.usage().inUse)
        assertEquals(10_000, one.usage().capacity)
        delay(2.seconds)
        assertTrue(one.usage().inUse < 1_000, "${one.usage()}")
    }

    /** The member that opened it last said nothing, though the documentation promised a warning. */
    @Test
    fun memberThatNamesOtherPermits_warnsOfBoth() = cluster {
        cluster("one").semaphore("uplink", permits = 5).acquire().release()
        val other = cluster("other").semaphore("uplink", permits = 3)
        val reported = ArrayList<Throwable>()
        reportingTo(reported) { other.acquire() }
        val message = reported.firstOrNull()?.message
        assertTrue(message != null && "3 permits" in message && "5" in message, "$reported")
        assertNull(other.holders.firstOrNull { it.permits > 3 })
    }
}
