package baton.distributed

import baton.resilience.per
import baton.scheduler.jdbc.databases.PostgresDatabase
import java.nio.file.Path
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineName
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** Clusters on threads of their own, used by many threads, in real time. */
abstract class ClusterThreadsContract {
    abstract fun store(): CoordinationStore

    protected open val lease = 2.seconds
    protected open val cancelledRequests = 500
    private val store by lazy { store() }
    private val clusters by lazy { List(2) { Cluster.open(store, lease, name = "member $it") } }

    @AfterEach
    fun close() {
        clusters.forEach { it.close() }
        store.close()
    }

    protected fun onThreads(test: suspend () -> Unit) = runBlocking {
        withTimeout(120.seconds) { withContext(Dispatchers.Default) { test() } }
    }

    protected suspend fun shareAMutex(store: () -> CoordinationStore) {
        val stores = List(2) { store() }
        val clusters = stores.map { Cluster.open(it, lease = 2.seconds) }
        var count = 0
        coroutineScope {
            for (cluster in clusters) {
                launch { repeat(20) { cluster.mutex("count").withLock { count++ } } }
            }
        }
        assertEquals(40, count)
        clusters.forEach { it.shutdown() }
        stores.forEach { it.close() }
    }

    @Test
    fun callersOnManyThreads_areNeverTooMany() = onThreads {
        val semaphores = clusters.map { it.semaphore("uplink", permits = 2) }
        val inside = AtomicInteger()
        val done = AtomicInteger()
        coroutineScope {
            repeat(200) { i ->
                launch {
                    repeat(5) {
                        semaphores[i % 2].withPermit {
                            assertTrue(inside.incrementAndGet() <= 2)
                            yield()
                            inside.decrementAndGet()
                            done.incrementAndGet()
                        }
                    }
                }
            }
        }
        assertEquals(1_000, done.get())
    }

    @Test
    fun requestsCancelledAroundTheGrant_leaveNothing() = onThreads {
        val mutexes = clusters.map { it.mutex("account") }
        val random = Random(1)
        repeat(cancelledRequests) { i ->
            val held = mutexes[i % 2].lock()
            coroutineScope {
                val waiter = launch { mutexes[1 - i % 2].lock().release() }
                repeat(random.nextInt(3)) { yield() }
                launch { held.release() }
                repeat(random.nextInt(20)) { yield() }
                waiter.cancelAndJoin()
            }
        }
        mutexes.forEach { it.withLock {} }
        assertEquals(0, mutexes.sumOf { it.waiting })
    }

    @Test
    fun callersOfALimiterOnManyThreads_areNeverTooMany() = onThreads {
        val limiters = clusters.map { it.rateLimiter("api", 2_000 per 1.seconds, burst = 100) }
        val start = System.nanoTime()
        coroutineScope { repeat(100) { i -> launch { repeat(10) { limiters[i % 2].acquire() } } } }
        val millis = (System.nanoTime() - start) / 1_000_000
        assertTrue(millis >= 449, "1,000 permits within $millis ms")
        assertEquals(0, limiters.sumOf { it.waiting })
    }

    @Test
    fun callersOfALimiterCancelledAroundTheGrant_takeNothing() = onThreads {
        val limiter = clusters[0].rateLimiter("slow api", 1 per 1.hours, burst = 1_000)
        val random = Random(1)
        val granted = AtomicInteger()
        coroutineScope {
            repeat(500) {
                val caller =
                    launch(start = CoroutineStart.UNDISPATCHED) {
                        limiter.acquire()
                        granted.incrementAndGet()
                    }
                launch {
                    repeat(random.nextInt(20)) { yield() }
                    caller.cancelAndJoin()
                }
            }
        }
        var left = 0
        while (limiter.tryAcquire()) left++
        assertEquals(1_000, granted.get() + left)
    }
}

class ClusterThreadsTest : ClusterThreadsContract() {
    override fun store() = InMemoryStore()

    @Test
    fun listenerThatBlocks_holdsUpNoOtherLossAndNoHeartbeat() = onThreads {
        val cluster = Cluster.open(store(), lease = 1.seconds)
        val semaphore = cluster.semaphore("uplink", permits = 2)
        val first = semaphore.acquire()
        val second = semaphore.acquire()
        val isSecondTold = CountDownLatch(1)
        val isFirstDone = CountDownLatch(1)
        first.onLost {
            isSecondTold.await()
            isFirstDone.countDown()
        }
        second.onLost { isSecondTold.countDown() }
        withContext(Dispatchers.IO) {
            cluster.close()
            assertTrue(isFirstDone.await(120, TimeUnit.SECONDS))
        }
    }

    @Test
    fun callersWithoutADispatcherThatBlock_holdUpNoHeartbeat() = onThreads {
        val store = store()
        val (one, other) = List(2) { Cluster.open(store, lease = 1.seconds) }
        val theirs = List(8) { other.mutex("account $it").lock() }
        val blocked = CountDownLatch(theirs.size)
        val end = CountDownLatch(1)
        coroutineScope {
            repeat(theirs.size) {
                // The answer of the store resumes it, unless that comes first.
                launch(Dispatchers.IO + CoroutineName("caller $it")) {
                    withContext(Dispatchers.Unconfined) {
                        assertNull(one.mutex("account $it").tryLock())
                        blocked.countDown()
                        end.await()
                    }
                }
            }
            try {
                withContext(Dispatchers.IO) { assertTrue(blocked.await(120, TimeUnit.SECONDS)) }
                val mine = one.mutex("other").lock()
                delay(2.seconds)
                mine.check()
                theirs.forEach { it.check() }
            } finally {
                end.countDown()
            }
        }
        one.close()
        other.close()
    }
}

/** On a file of H2. */
class JdbcClusterThreadsTest : ClusterThreadsContract() {
    @TempDir lateinit var folder: Path

    override fun store(): CoordinationStore = JdbcStore.h2(folder.resolve("locks"))

    /** They hear no bell of each other, and look into the table. */
    @Test
    fun membersWithStoresOfTheirOwn_shareAMutex() = onThreads { shareAMutex { JdbcStore.h2(folder.resolve("two")) } }
}

/** On PostgreSQL. */
class PostgresClusterThreadsTest : ClusterThreadsContract() {
    private val database = PostgresDatabase()

    override fun store(): CoordinationStore = JdbcStore(database.source)

    @AfterEach
    fun drop() {
        database.close()
    }

    @Test fun membersWithStoresOfTheirOwn_shareAMutex() = onThreads { shareAMutex { store() } }
}
