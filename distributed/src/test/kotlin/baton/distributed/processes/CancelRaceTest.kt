package baton.distributed.processes

import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.DistributedMutex
import baton.distributed.rules.LockState
import baton.scheduler.jdbc.databases.PostgresDatabase
import java.nio.file.Path
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/**
 * A member releases, and the request of another one is cancelled within a millisecond of the time at which its grant is
 * expected.
 */
abstract class CancelRaceContract {
    @TempDir protected lateinit var directory: Path

    protected abstract fun stores(): List<CoordinationStore>

    protected open val rounds = 500

    private val stores by lazy { stores() }
    private val granted = AtomicInteger()
    private val cancelled = AtomicInteger()

    @AfterEach
    fun close() {
        stores.forEach { it.close() }
    }

    @Test
    fun requests_cancelledAroundTheirGrant_leaveNothing(): Unit =
        runBlocking(Dispatchers.Default) {
            Cluster.open(stores[0], lease = 500.milliseconds).use { it.mutex("first").withLock {} }
            val clusters = stores.map { Cluster.open(it, lease = 30.seconds) }
            coroutineScope {
                repeat(LOCKS) { i ->
                    launch {
                        val (mine, others) = clusters.map { it.mutex("m$i", keep = false) }
                        withTimeout(20.minutes) { race(i, mine, others, rounds / LOCKS) }
                        assertEquals(0, mine.waiting + others.waiting)
                    }
                }
            }
            withTimeout(2.minutes) { for (i in 0 until LOCKS) while (leftIn("m$i").isNotEmpty()) delay(1.milliseconds) }
            println("$granted granted, $cancelled cancelled")
            assertTrue(granted.get() > 0 && cancelled.get() > 0, "$granted granted")
            clusters.forEach { it.shutdown() }
        }

    private suspend fun race(seed: Int, mine: DistributedMutex, others: DistributedMutex, rounds: Int) {
        val random = Random(seed)
        var expected = Long.MAX_VALUE
        repeat(rounds + MEASURED) { round ->
            val held = mine.lock()
            coroutineScope {
                var isGranted = false
                val waiter =
                    launch(start = CoroutineStart.UNDISPATCHED) {
                        others.lock().release()
                        isGranted = true
                    }
                while (leftIn(mine.name).none { it is LockState.Place }) delay(1.milliseconds)
                val start = System.nanoTime()
                held.release()
                if (round < MEASURED) {
                    waiter.join()
                    expected = minOf(expected, System.nanoTime() - start)
                    return@coroutineScope
                }
                val end = start + expected + random.nextLong(-RANGE, RANGE)
                while (System.nanoTime() < end) Thread.onSpinWait()
                waiter.cancel()
                waiter.join()
                (if (isGranted) granted else cancelled).incrementAndGet()
                expected = (if (isGranted) expected / 20 * 19 else expected / 19 * 20).coerceAtLeast(RANGE)
            }
        }
    }

    private fun leftIn(name: String): List<Any> = stores[0].leftOf("baton:mutex:$name")

    private companion object {
        const val LOCKS = 4
        const val MEASURED = 5
        const val RANGE = 1_000_000L
    }
}

/** Rings within the JVM. */
open class H2CancelRaceTest : CancelRaceContract() {
    override fun stores(): List<CoordinationStore> =
        ClusterChild.open(ClusterChild.h2(directory.resolve("locks"))).let { listOf(it, it) }
}

/** Rings by the server. */
open class PostgresCancelRaceTest : CancelRaceContract() {
    private val database = PostgresDatabase()

    override fun stores(): List<CoordinationStore> = List(2) { ClusterChild.open(database.url) }

    @AfterEach
    fun drop() {
        database.close()
    }
}

class H2CancelRaceDeepTest : H2CancelRaceTest() {
    override val rounds = 10_000
}

class PostgresCancelRaceDeepTest : PostgresCancelRaceTest() {
    override val rounds = 10_000
}
