package baton.distributed.redis

import baton.distributed.Cluster
import baton.distributed.ClusterThreadsContract
import baton.distributed.CoordinationStore
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

/** One server for all tests: the store rests once. */
open class RedisClusterThreadsTest : ClusterThreadsContract() {
    override val lease = 4.seconds

    override fun store(): CoordinationStore = RedisStore(server.uri())

    companion object {
        private lateinit var server: RedisProcess

        @JvmStatic
        @BeforeAll
        fun start() {
            server = RedisProcess.start(RedisProcess.REDIS_7_0, false)
        }

        @JvmStatic
        @AfterAll
        fun end() {
            if (::server.isInitialized) server.close()
        }
    }
}

class RedisClusterThreadsDeepTest : RedisClusterThreadsTest() {
    override val cancelledRequests = 20_000
}

/** Members whose server is killed. */
class RedisRestartTest {
    private fun onThreads(test: suspend () -> Unit) = runBlocking {
        withTimeout(2.minutes) { withContext(Dispatchers.Default) { test() } }
    }

    private suspend fun onServer(
        isKept: Boolean,
        lease: Duration,
        test: suspend (RedisProcess, List<Cluster>) -> Unit,
    ) {
        RedisProcess.start(RedisProcess.REDIS_7_0, isKept).use { server ->
            val stores = List(2) { RedisStore(RedisProcess.uri(server.port())) }
            val clusters = stores.mapIndexed { i, store -> Cluster.open(store, lease, "member $i") }
            try {
                test(server, clusters)
            } finally {
                clusters.forEach { it.close() }
                stores.forEach { it.close() }
            }
        }
    }

    /** Promise 8. */
    @Test
    fun serverThatComesBackEmpty_losesAllLeases_andGrantsNothingForOne() = onThreads {
        val lease = 1.seconds
        onServer(isKept = false, lease) { server, (first, second) ->
            val events = ConcurrentLinkedQueue<String>()
            val held = first.mutex("account").lock()
            held.onLost { events += "lost" }
            coroutineScope {
                val next = async { second.mutex("account").lock().also { events += "granted" } }
                server.kill()
                server.start()
                val since = TimeSource.Monotonic.markNow()
                held.awaitLost()
                val granted = next.await()
                assertTrue(since.elapsedNow() >= lease, "granted after ${since.elapsedNow()}")
                assertEquals(listOf("lost", "granted"), events.toList())
                assertTrue(granted.fencingToken > held.fencingToken) { "$granted after $held" }
                granted.release()
            }
        }
    }

    @Test
    fun serverThatComesBackWithItsData_losesNoLease() = onThreads {
        onServer(isKept = true, lease = 2.seconds) { server, (first, second) ->
            second.mutex("other").withLock {}
            val held = first.mutex("account").lock()
            coroutineScope {
                val next = async { second.mutex("account").lock() }
                server.kill()
                server.start()
                awaitHeartbeats(server, 5)
                held.check()
                assertTrue(next.isActive)
                held.release()
                val granted = next.await()
                assertTrue(granted.fencingToken > held.fencingToken)
                granted.release()
            }
        }
    }

    /** More than a lease needs, of each member. */
    private suspend fun awaitHeartbeats(server: RedisProcess, beats: Int) {
        val before = counters(server)
        assertEquals(2, before.size)
        while (counters(server).any { (key, version) -> version < (before[key] ?: version) + beats }) {
            delay(50.milliseconds)
        }
        assertEquals(before.keys, counters(server).keys)
    }

    private fun counters(server: RedisProcess): Map<String, Long> =
        server.ask("KEYS baton:member:*").dropLast(1).associateWith { server.ask("HGET $it v").first().toLong() }
}
