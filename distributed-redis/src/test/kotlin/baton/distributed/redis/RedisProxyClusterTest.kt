package baton.distributed.redis

import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.StoreUnavailableException
import baton.distributed.StoredDocument
import baton.test.stores.TcpProxy
import java.util.Optional
import java.util.concurrent.CompletionStage
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asCoroutineDispatcher
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test

/** Members behind networks that fail. */
class RedisProxyClusterTest {
    private val proxies = ArrayList<TcpProxy>()
    private val stores = ArrayList<CoordinationStore>()
    private val clusters = ArrayList<Cluster>()

    @AfterEach
    fun close() {
        clusters.forEach { it.close() }
        stores.forEach { it.close() }
        proxies.forEach { it.close() }
    }

    private fun onThreads(test: suspend () -> Unit) = runBlocking {
        withTimeout(2.minutes) { withContext(Dispatchers.Default) { test() } }
    }

    private fun store(port: Int, timeout: Duration): RedisStore =
        RedisStore("redis://localhost:$port?timeout=${timeout.inWholeMilliseconds}ms").also { stores += it }

    private fun proxy() = TcpProxy(server.port()).also { proxies += it }

    private fun open(store: CoordinationStore, lease: Duration) = Cluster.open(store, lease).also { clusters += it }

    /** Answers are lost, the network stops for a moment and is cut, and the permits are neither lost nor doubled. */
    @Test
    fun networkThatFails_losesAndDoublesNoPermit() = onThreads {
        val networks = List(2) { proxy() }
        val semaphores = networks.map { open(store(it.port(), 200.milliseconds), 2.seconds).semaphore("uplink", 2) }
        val inside = AtomicInteger()
        val done = AtomicInteger()
        semaphores.forEach { it.withPermit {} }
        coroutineScope {
            val faults = launch { failAtRandom(networks) }
            coroutineScope {
                repeat(20) { i ->
                    launch {
                        repeat(10) {
                            semaphores[i % 2].withPermit { lease ->
                                assertTrue(inside.incrementAndGet() <= 2)
                                yield()
                                lease.check()
                                inside.decrementAndGet()
                                done.incrementAndGet()
                            }
                        }
                    }
                }
            }
            faults.cancelAndJoin()
        }
        networks.forEach { it.pass() }
        assertEquals(200, done.get())
        semaphores.forEach { it.withPermits(2) {} }
    }

    private suspend fun failAtRandom(networks: List<TcpProxy>) {
        val random = Random(1)
        while (true) {
            val network = networks[random.nextInt(2)]
            when (random.nextInt(3)) {
                0 -> network.dropAnswersAfter(random.nextLong(100))
                1 -> network.stall()
                else -> network.cut()
            }
            delay(random.nextInt(1, 20).milliseconds)
            network.pass()
            delay(random.nextInt(20, 200).milliseconds)
        }
    }

    /** Promise 2. */
    @Test
    fun networkThatStandsStillForALease_tellsTheHolderBeforeOthersAreGranted() = onThreads {
        val network = proxy()
        val lease = 1.seconds
        val held = open(store(network.port(), 300.milliseconds), lease).mutex("account").lock()
        val events = ConcurrentLinkedQueue<String>()
        held.onLost { events += "lost" }
        coroutineScope {
            val next = async {
                open(store(server.port(), 10.seconds), lease).mutex("account").lock().also { events += "granted" }
            }
            network.stall()
            val granted = next.await()
            assertEquals(listOf("lost", "granted"), events.toList())
            assertTrue(granted.fencingToken > held.fencingToken)
            granted.release()
        }
        network.pass()
        checkNotNull(clusters[0].mutex("account").tryLock(100.seconds)).release()
    }

    private class CountingStore(private val inner: CoordinationStore) : CoordinationStore by inner {
        val calls = AtomicInteger()

        override fun read(key: String): CompletionStage<Optional<StoredDocument>> {
            calls.incrementAndGet()
            return inner.read(key)
        }

        override fun compareAndSet(key: String, expected: Long, next: StoredDocument, rung: Collection<String>) =
            inner.compareAndSet(key, expected, next, rung).also { calls.incrementAndGet() }

        override fun toString() = inner.toString()
    }

    /** Promise 9. */
    @Test
    fun networkThatIsCut_isReportedOnce_andNothingSpins() = onThreads {
        // Its short lease ends the rest of the store.
        open(store(server.port(), 10.seconds), 300.milliseconds).mutex("first").withLock {}
        val reports = ConcurrentLinkedQueue<Throwable>()
        val thread =
            Executors.newSingleThreadExecutor { work ->
                Thread(work).apply { setUncaughtExceptionHandler { _, e -> reports += e } }
            }
        thread.asCoroutineDispatcher().use { dispatcher ->
            val network = proxy()
            val store = CountingStore(store(network.port(), 500.milliseconds))
            val cluster = Cluster.open(store, lease = 20.seconds, context = dispatcher)
            val mutexes = List(20) { cluster.mutex("m$it", keep = false) }
            mutexes.forEach { it.withLock {} }
            network.cut()
            val before = store.calls.get()
            val connectionsBefore = network.connections()
            val waiting = 3.seconds
            coroutineScope {
                for (mutex in mutexes) launch {
                    val failure = runCatching { mutex.tryLock(waiting) }.exceptionOrNull()
                    assertTrue(failure is StoreUnavailableException && "$store" in failure.message!!, "$failure")
                }
            }
            val calls = store.calls.get() - before
            assertTrue(calls <= mutexes.size + 2 * waiting.inWholeSeconds, "$calls calls")
            val connections = network.connections() - connectionsBefore
            assertTrue(connections <= calls + 3 * waiting.inWholeSeconds, "$connections connections")
            network.pass()
            mutexes.forEach { it.withLock {} }
            assertEquals(1, reports.size) { reports.joinToString() }
            cluster.shutdown()
        }
    }

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
