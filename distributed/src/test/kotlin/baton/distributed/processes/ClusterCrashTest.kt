package baton.distributed.processes

import baton.distributed.Cluster
import baton.scheduler.jdbc.databases.PostgresDatabase
import java.nio.file.Path
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.io.TempDir

/** The runs of 100 kills each are in [H2CrashDeepTest] and [PostgresCrashDeepTest]. */
abstract class ClusterCrashContract {
    @TempDir protected lateinit var directory: Path

    /** See [ClusterChild.open]. */
    internal abstract val place: String
    internal open val rounds = 5

    /** This process opens the store first, so it serves an H2 file to the others. */
    private val store by lazy { ClusterChild.open(place).also { it.now().toCompletableFuture().get() } }

    @AfterEach
    fun close() {
        store.close()
    }

    @Test
    fun locks_ofProcessesThatAreKilled_grantNeverTooMuch_andLoseNothing() {
        store
        val crashes = ClusterCrashes(place, directory, seed = rounds)
        crashes.kill(rounds)
        println(crashes)
    }

    @Test
    fun holder_stoppedForLongerThanItsLease_isToldAsItGoesOn(): Unit = runBlocking {
        val cluster = Cluster.open(store, lease = ClusterChild.HOLD_LEASE)
        val mutex = cluster.mutex("mutex")
        mutex.withLock {} // the store is new
        val child = ClusterChild.start("hold", place)
        try {
            val lines = child.inputReader().lineSequence().filterNot { it.startsWith(ClusterChild.REPORTED) }.iterator()
            fun expect(start: String): String {
                val line = lines.next()
                assertTrue(line.startsWith(start), line)
                return line.removePrefix(start)
            }
            withTimeout(2.minutes) {
                val first = expect("held ").toLong()
                val request = async(Dispatchers.Default) { mutex.lock() to System.nanoTime() }
                signal("STOP", child)
                val (lease, since) = request.await()
                assertTrue(lease.isHeld && lease.fencingToken > first)
                signal("CONT", child)
                // In any order: a thread of the cluster prints one of them.
                val learnt = List(3) { lines.next().split(' ') }.associate { it[0] to it[1] }
                assertTrue("told" in learnt)
                assertEquals("true", learnt["cancelled"])
                assertTrue(learnt.getValue("thrown").toLong() < since)
                lease.check()
                lease.release()
                assertTrue(expect("held ").toLong() > lease.fencingToken)
                expect("ended")
            }
        } finally {
            child.toHandle().destroyForcibly()
            child.waitFor()
            cluster.close()
        }
    }

    private fun signal(name: String, child: Process) =
        assertEquals(0, ProcessBuilder("kill", "-$name", "${child.pid()}").start().waitFor())
}

open class H2CrashTest : ClusterCrashContract() {
    override val place
        get() = ClusterChild.h2(directory.resolve("locks"))
}

open class PostgresCrashTest : ClusterCrashContract() {
    private val database = PostgresDatabase()
    override val place = database.url

    @AfterEach
    fun drop() {
        database.close()
    }
}

class H2CrashDeepTest : H2CrashTest() {
    override val rounds = 50
}

class PostgresCrashDeepTest : PostgresCrashTest() {
    override val rounds = 50
}
