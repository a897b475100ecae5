package guide.distributed

import baton.distributed.Cluster
import baton.distributed.InMemoryStore
import baton.resilience.per
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.test.StandardTestDispatcher
import kotlinx.coroutines.test.runTest
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** The code of docs/distributed.md. */
class DistributedPageTest {
    private val table = Table()

    private class Table {
        var row = ""
        var token = 0L

        fun write(text: String, newToken: Long) {
            check(newToken > token) { "token = $newToken, must be above $token" }
            row = text
            token = newToken
        }
    }

    private fun fetch(path: String) = "42 of $path"

    @Test
    fun firstExample_writesTheRow() = runTest {
        Cluster.open(InMemoryStore(), lease = 10.seconds, namespace = "shop").use { cluster ->
            val atMostFive = cluster.semaphore("uplink", permits = 5)
            val body = atMostFive.withPermit { lease -> fetch("/prices") }

            cluster.mutex("account").withLock { lease -> table.write(body, lease.fencingToken) }
        }
        assertEquals("42 of /prices", table.row)
        assertTrue(table.token > 0)
    }

    @Test
    fun limiter_refusesBeyondTheLimit() = runTest {
        Cluster.open(InMemoryStore(), context = StandardTestDispatcher(testScheduler)).use { cluster ->
            val limiter = cluster.rateLimiter("api", 100 per 1.seconds, burst = 20)
            limiter.withPermit { fetch("/prices") }
            if (!limiter.tryAcquire(permits = 2, timeout = 50.milliseconds)) report("the limit is reached")
            assertEquals(0, reports.size)
            assertEquals(20, limiter.burst)
        }
    }

    @Test
    fun leader_runsTheBlock() = runTest {
        Cluster.open(InMemoryStore()).use { cluster ->
            val leader = cluster.leader("cleaner")
            val cleaned = leader.run { lease -> clean(lease.fencingToken) }
            assertTrue(cleaned)
        }
    }

    private val reports = ArrayList<String>()

    private fun report(text: String) {
        reports += text
    }

    private fun clean(token: Long) = token > 0
}
