package baton.distributed.jdbc

import baton.distributed.Cluster
import baton.distributed.JdbcStore
import baton.distributed.StoredDocument
import baton.scheduler.jdbc.databases.PostgresDatabase
import java.util.concurrent.CompletionStage
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Members with stores of their own: only PostgreSQL can ring them. */
class PostgresBellTest {
    private val database = PostgresDatabase()
    private val stores = ArrayList<JdbcStore>()
    private val reports = ConcurrentLinkedQueue<Throwable>()
    private val handler = Thread.getDefaultUncaughtExceptionHandler()

    init {
        Thread.setDefaultUncaughtExceptionHandler { _, e -> reports += e }
    }

    @AfterEach
    fun close() {
        stores.forEach { it.close() }
        database.close()
        Thread.setDefaultUncaughtExceptionHandler(handler)
    }

    private fun store(connections: BellConnections = BellConnections(database.source)) =
        JdbcStore(connections).also { stores += it }

    private fun <T> CompletionStage<T>.await(): T = toCompletableFuture().get(120, TimeUnit.SECONDS)

    private fun test(block: suspend () -> Unit) =
        runBlocking(Dispatchers.Default) { withTimeout(2.minutes) { block() } }

    private suspend fun until(condition: () -> Boolean) {
        while (!condition()) delay(2.milliseconds)
    }

    private suspend fun JdbcStore.hears(topic: String): LinkedBlockingQueue<String> {
        val heard = LinkedBlockingQueue<String>()
        listen(topic) { heard += it }
        now().await()
        until { ringsEveryBell() }
        return heard
    }

    private fun terminate(process: Int) {
        database.connect().use { connection ->
            connection.createStatement().use { it.execute("select pg_terminate_backend($process)") }
        }
    }

    @Test
    fun write_ofAnotherStore_ringsOnce() = test {
        val heard = store().hears("a")
        val other = store()
        val own = other.hears("b")
        other.compareAndSet("k1", 0, StoredDocument(1, "x"), listOf("a", "b")).await()
        other.compareAndSet("k1", 0, StoredDocument(1, "x"), listOf("a")).await()
        other.compareAndSet("k1", 1, StoredDocument(2, "x"), listOf("c")).await()
        other.compareAndSet("k1", 2, StoredDocument(3, "x"), listOf("a")).await()
        other.compareAndSet("k2", 0, StoredDocument(1, "x"), listOf("a")).await()
        assertEquals(listOf("k1", "k1", "k2"), List(3) { heard.poll(120, TimeUnit.SECONDS) })
        assertEquals(listOf("k1"), own.toList())
    }

    @Test
    fun topic_thatIsListenedToLater_isHeard() = test {
        val store = store()
        store.hears("a")
        val heard = store.hears("b")
        store().compareAndSet("k", 0, StoredDocument(1, "x"), listOf("b")).await()
        assertEquals("k", heard.poll(120, TimeUnit.SECONDS))
    }

    /** Polls and heartbeats come too late for the time limit of this test. */
    @Test
    fun memberWithALeaseOfAnHour_isGrantedByTheBell() = test {
        Cluster.open(store(), lease = 100.milliseconds).use { it.mutex("first").withLock {} }
        val mine = store()
        val others = store()
        val clusters = listOf(mine, others).map { Cluster.open(it, lease = 1.hours) }
        clusters.forEachIndexed { i, it -> it.mutex("joins $i").withLock {} }
        until { mine.ringsEveryBell() && others.ringsEveryBell() }
        repeat(20) { for (cluster in clusters) cluster.mutex("account").withLock {} }
        coroutineScope {
            val held = clusters[0].mutex("account").lock()
            val waiter = async { clusters[1].mutex("account").lock() }
            until { clusters[1].mutex("account").waiting > 0 }
            held.release()
            waiter.await().release()
        }
        clusters.forEach { it.close() }
    }

    @Test
    fun connectionThatIsTerminated_isReportedOnce_andReplaced() = test {
        val connections = BellConnections(database.source)
        val store = store(connections)
        val heard = store.hears("a")
        val other = store()
        val first = connections.listeners.last()
        terminate(first)
        until { reports.isNotEmpty() }
        until { store.ringsEveryBell() }
        assertTrue(connections.listeners.last() != first)
        other.compareAndSet("k", 0, StoredDocument(1, "x"), listOf("a")).await()
        assertEquals("k", heard.poll(120, TimeUnit.SECONDS))
        assertEquals(1, reports.size, "$reports")
        assertTrue(reports.first().message.orEmpty().startsWith("$store hears no bell"), "$reports")
    }

    @Test
    fun poolerThatForwardsNoNotification_isReportedOnce_andPolled() = test {
        val deaf = List(2) { store(BellConnections(database.source, mayListen = false)) }
        val clusters = deaf.map { Cluster.open(it, lease = 1.seconds) }
        var count = 0
        coroutineScope {
            for (cluster in clusters) launch { repeat(5) { cluster.mutex("count").withLock { count++ } } }
        }
        assertEquals(10, count)
        until { reports.size >= 2 }
        assertTrue(deaf.none { it.ringsEveryBell() })
        assertEquals(2, reports.size, "$reports")
        assertTrue(reports.all { "pooler in transaction mode" in it.message.orEmpty() }, "$reports")
        clusters.forEach { it.shutdown() }
    }

    @Test
    fun poolThatIsExhaustedForTwoLeases_losesNothing() = test {
        val pool = BellConnections(database.source, size = 6)
        val cluster = Cluster.open(store(pool), lease = 2.seconds)
        val lease = cluster.mutex("account").lock()
        val application = ArrayList<AutoCloseable>()
        until {
            // Until the pool has none: the store has its three by now.
            pool.listeners.isNotEmpty() && runCatching { application += pool.connection }.isFailure
        }
        assertEquals(3, application.size)
        val before = heartbeats()
        until { heartbeats() >= before + 7 } // more than two leases
        lease.check()
        assertTrue(cluster.mutex("other").tryLock() != null)
        assertFalse(runCatching { pool.connection }.isSuccess)
        assertTrue(reports.isEmpty(), "$reports")
        application.forEach { it.close() }
        cluster.close()
    }

    /** All of the one member. */
    private fun heartbeats(): Long =
        database.connect().use { connection ->
            val query = "select text from ${JdbcStore.TABLE} where doc_key like '%:member:%'"
            connection.createStatement().executeQuery(query).use {
                assertTrue(it.next())
                checkNotNull(Regex("\"beat\":(\\d+)").find(it.getString(1))).groupValues[1].toLong()
            }
        }

    @Test
    fun stores_thatBeginAtOnce_createTheTable() = test {
        val all = List(6) { store() }
        coroutineScope { for (store in all) launch { store.read("k").await() } }
        assertTrue(reports.isEmpty(), "$reports")
    }
}
