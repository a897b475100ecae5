package baton.distributed.processes

import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.LeaseLostException
import baton.scheduler.jdbc.databases.PostgresServer
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.nio.file.Files
import java.nio.file.Path
import java.util.concurrent.ConcurrentLinkedQueue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The server of the store ends while leases are held, and comes back. */
abstract class StoreRestartContract {
    @TempDir protected lateinit var directory: Path

    /** See [ClusterChild.open]. */
    internal abstract val place: String

    protected abstract fun startServer()

    protected abstract fun stopServer(losesData: Boolean)

    private val stores = ArrayList<CoordinationStore>()
    private val clusters = ArrayList<Cluster>()
    private val reports = ConcurrentLinkedQueue<Throwable>()
    private val handler = Thread.getDefaultUncaughtExceptionHandler()

    @BeforeEach
    fun open() {
        Thread.setDefaultUncaughtExceptionHandler { _, e -> reports += e }
        startServer()
        // The first cluster of a new store waits for a lease.
        runBlocking { Cluster.open(store(), lease = 500.milliseconds).use { it.mutex("first").withLock {} } }
    }

    @AfterEach
    fun close() {
        clusters.forEach { it.close() }
        stores.forEach { it.close() }
        Thread.setDefaultUncaughtExceptionHandler(handler)
    }

    private fun store() = ClusterChild.open(place).also { stores += it }

    private fun mutex(lease: Duration) = Cluster.open(store(), lease).also { clusters += it }.mutex("account")

    private fun test(block: suspend () -> Unit) =
        runBlocking(Dispatchers.Default) { withTimeout(2.minutes) { block() } }

    @Test
    fun server_thatRestarts_losesNoLease() = test {
        reports.clear()
        val (mine, others) = List(2) { mutex(lease = 12.seconds) }
        val held = mine.lock()
        assertEquals(null, others.tryLock())
        runBlocking(Dispatchers.Default) {
            val waiter = async { others.lock() }
            while (others.waiting == 0) delay(1.milliseconds)
            stopServer(losesData = false)
            startServer()
            held.check()
            held.release()
            val next = waiter.await()
            assertTrue(next.fencingToken > held.fencingToken)
            next.release()
        }
        // No cluster reports an outage at each try.
        assertTrue(reports.count { "waits for its store" in it.message.orEmpty() } <= 2, "$reports")
    }

    @Test
    fun server_thatComesBackEmpty_losesAllLeases_andGrantsNothingForALease() = test {
        val lease = 2.seconds
        val (mine, others) = List(2) { mutex(lease) }
        val held = mine.lock()
        assertEquals(null, others.tryLock())
        stopServer(losesData = true)
        val stopped = System.nanoTime()
        startServer()
        held.awaitLost()
        assertThrows(LeaseLostException::class.java) { held.check() }
        val next = others.lock()
        assertTrue(System.nanoTime() - stopped >= lease.inWholeNanoseconds)
        assertTrue(next.fencingToken > held.fencingToken)
        next.check()
        assertNotNull(next)
    }
}

/** The JVM that serves the file is killed, and one of the others serves it then. */
class H2RestartTest : StoreRestartContract() {
    override val place
        get() = ClusterChild.h2(directory.resolve("locks"))

    private var server: Process? = null

    override fun startServer() {
        if (server != null) return
        server = ClusterChild.start("serve", place).also { assertEquals("serving", it.inputReader().readLine()) }
    }

    override fun stopServer(losesData: Boolean) {
        val process = checkNotNull(server)
        if (losesData) {
            // Before another process can open them.
            assertEquals(0, ProcessBuilder("kill", "-STOP", "${process.pid()}").start().waitFor())
            Files.list(directory).use { files -> files.forEach(Files::delete) }
        }
        process.toHandle().destroyForcibly()
        process.waitFor()
    }

    @AfterEach
    fun end() {
        server?.toHandle()?.destroyForcibly()
    }
}

class PostgresRestartTest : StoreRestartContract() {
    private lateinit var server: EmbeddedPostgres
    private var port = 0
    override val place
        get() = server.getJdbcUrl("postgres", "postgres")

    override fun startServer() {
        val started =
            PostgresServer.start {
                setDataDirectory(directory.resolve("data"))
                setCleanDataDirectory(false)
                setServerConfig("fsync", "off")
                setPort(port)
            }
        assumeTrue(started != null) { "no PostgreSQL" }
        server = checkNotNull(started)
        port = server.port
    }

    override fun stopServer(losesData: Boolean) {
        server.close()
        if (losesData) directory.resolve("data").toFile().deleteRecursively()
    }

    @AfterEach
    fun end() {
        if (port > 0) server.close()
    }
}
