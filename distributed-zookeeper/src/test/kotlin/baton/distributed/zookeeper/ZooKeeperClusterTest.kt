package baton.distributed.zookeeper

import baton.distributed.Cluster
import baton.distributed.ClusterThreadsContract
import baton.distributed.CoordinationStore
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import org.apache.curator.test.TestingServer
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

/** One server for all tests: the store rests once. */
open class ZooKeeperClusterTest : ClusterThreadsContract() {
    override val lease = 4.seconds
    override val cancelledRequests = 250

    override fun store(): CoordinationStore = ZooKeeperStore(server.connectString)

    companion object {
        private lateinit var server: TestingServer

        @JvmStatic
        @BeforeAll
        fun start() {
            server = TestingServer()
        }

        @JvmStatic
        @AfterAll
        fun end() {
            server.close()
        }
    }
}

class ZooKeeperClusterDeepTest : ZooKeeperClusterTest() {
    override val cancelledRequests = 5_000
}

/** A server that is restarted with its data. */
class ZooKeeperRestartTest {
    @Test
    fun serverThatRestarts_losesNoLock(): Unit = runBlocking {
        withTimeout(2.minutes) { withContext(Dispatchers.Default) { restart() } }
    }

    private suspend fun restart() =
        TestingServer().use { server ->
            val stores = List(2) { ZooKeeperStore(server.connectString) }
            val (first, second) = stores.map { Cluster.open(it, lease = 2.seconds) }
            val before = first.mutex("account").lock()
            second.mutex("other").withLock {}
            coroutineScope {
                val next = async { second.mutex("account").lock() }
                server.restart()
                before.release()
                val granted = next.await()
                assertTrue(granted.fencingToken > before.fencingToken)
                granted.release()
            }
            for (cluster in listOf(first, second)) {
                cluster.mutex("account").withLock {}
                cluster.close()
            }
            stores.forEach { it.close() }
        }
}
