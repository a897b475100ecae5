package baton.scheduler.journal

import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class SnapshotPolicyTest {
    private val policy = SnapshotPolicy()

    private fun append(bytes: Long, deleted: Int = 0) = policy.appended(bytes, deleted)

    @Test
    fun snapshot_afterFewBytes_isNotDue() {
        policy.written(bytes = 32, rows = 0)
        append(SnapshotPolicy.MIN_APPENDED_BYTES - 1)
        assertFalse(policy.isDue)
        append(1)
        assertTrue(policy.isDue)
    }

    @Test
    fun snapshot_isDueWhenAsMuchIsAppendedAsLives() {
        policy.written(bytes = 10_000_000, rows = 100_000)
        append(9_999_999)
        assertFalse(policy.isDue)
        append(1)
        assertTrue(policy.isDue)
        policy.written(bytes = 10_000_000, rows = 100_000)
        assertFalse(policy.isDue)
    }

    @Test
    fun snapshot_ofDeletedRows_isDueSooner() {
        policy.written(bytes = 10_000_000, rows = 100_000)
        append(1_999_999, deleted = 80_000)
        assertFalse(policy.isDue)
        append(1)
        assertTrue(policy.isDue)
    }

    @Test
    fun snapshot_ofMoreDeletedRowsThanItHas_isDueAfterTheFewestBytes() {
        policy.written(bytes = Long.MAX_VALUE, rows = 1)
        append(SnapshotPolicy.MIN_APPENDED_BYTES - 1, deleted = Int.MAX_VALUE)
        assertFalse(policy.isDue)
        append(1, deleted = Int.MAX_VALUE)
        assertTrue(policy.isDue)
    }

    @Test
    fun snapshot_thatFailed_isDueAfterAsMuchAgain() {
        policy.written(bytes = 32, rows = 0)
        append(SnapshotPolicy.MIN_APPENDED_BYTES)
        policy.failed()
        append(SnapshotPolicy.MIN_APPENDED_BYTES - 1)
        assertFalse(policy.isDue)
        append(1)
        assertTrue(policy.isDue)
    }
}
