package baton.distributed.processes

import baton.distributed.Cluster
import baton.distributed.CoordinationStore
import baton.distributed.JdbcStore
import baton.distributed.Lease
import baton.distributed.LeaseLostException
import baton.distributed.rules.LockState
import baton.scheduler.jdbc.crash.ChildJvm
import java.nio.file.Path
import kotlin.concurrent.thread
import kotlin.coroutines.cancellation.CancellationException
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import org.postgresql.ds.PGSimpleDataSource

/** A member in a process of its own. It halts when its parent does, or closes its input; a line ends its work. */
internal object ClusterChild {
    val LEASE = 1.seconds
    const val PERMITS = 2
    /** No pause of a busy machine is as long. */
    val HOLD_LEASE = 2.seconds
    const val REPORTED = "reported "
    private const val H2 = "h2:"

    fun h2(file: Path) = "$H2$file"

    /** [place] is the URL of PostgreSQL, or [h2]. */
    fun open(place: String): CoordinationStore =
        if (place.startsWith(H2)) JdbcStore.h2(Path.of(place.removePrefix(H2)))
        else JdbcStore(PGSimpleDataSource().also { it.setURL(place) })

    fun start(mode: String, place: String, vararg args: String): Process =
        ChildJvm.start(javaClass.name, mode, place, *args)

    @JvmStatic
    fun main(args: Array<String>) {
        val input = System.`in`.bufferedReader()
        // A store that is late is reported, and waited for.
        Thread.setDefaultUncaughtExceptionHandler { _, e -> println("$REPORTED$e") }
        val store = open(args[1])
        if (args[0] == "serve") {
            store.now().toCompletableFuture().get()
            println("serving")
            haltWithParent(input::read)
            return
        }
        val cluster = Cluster.open(store, lease = if (args[0] == "hold") HOLD_LEASE else LEASE)
        if (args[0] == "hold") {
            thread(isDaemon = true) { haltWithParent(input::read) }
            return runBlocking { hold(cluster) }
        }
        val logs = listOf("mutex", "semaphore").map { HoldLog(Path.of(args[2] + "-" + it)) }
        runBlocking(Dispatchers.Default) {
            val mutex = cluster.mutex("mutex")
            val semaphore = cluster.semaphore("semaphore", PERMITS)
            val work =
                List(2) { launch { while (true) record(mutex.lock(), logs[0]) } } +
                    List(2) { launch { while (true) record(semaphore.acquire(), logs[1]) } }
            println("working")
            thread(isDaemon = true) { if (input.readLine() == null) halt() else work.forEach(Job::cancel) }
            work.forEach { it.join() }
            cluster.shutdown()
            println("ended")
        }
    }

    private fun halt() = Runtime.getRuntime().halt(0)

    private fun haltWithParent(read: () -> Int) {
        while (read() >= 0) continue
        halt()
    }

    /** Uses it for up to two milliseconds. */
    private suspend fun record(lease: Lease, log: HoldLog) =
        lease.use {
            val since = System.nanoTime()
            if (!lease.isHeld) return
            val record = log.begin(lease.fencingToken, since) ?: return
            val end = since + Random.nextLong(2_000_000)
            do {
                val now = System.nanoTime()
                // Its lease may end between the two, but not before.
                if (lease.isHeld) log.heldAt(record, now)
                delay(1.milliseconds)
            } while (now < end)
            log.end(record)
        }

    /** Prints what it learns of the loss of its first lease, and that it gets another one then. */
    private suspend fun hold(cluster: Cluster) {
        val mutex = cluster.mutex("mutex")
        try {
            mutex.withLock { lease ->
                lease.onLost { println("told ${System.nanoTime()}") }
                println("held ${lease.fencingToken}")
                try {
                    while (true) {
                        val now = System.nanoTime()
                        if (lease.isHeld) lastHeld = now
                        delay(1.milliseconds)
                    }
                } catch (e: CancellationException) {
                    println("cancelled ${runCatching { lease.check() }.exceptionOrNull() is LeaseLostException}")
                    throw e
                }
            }
        } catch (_: LeaseLostException) {
            println("thrown $lastHeld")
        }
        mutex.withLock { println("held ${it.fencingToken}") }
        cluster.shutdown()
        println("ended")
    }

    private var lastHeld = 0L
}

/** The shares and places in the document of a lock; none if it has ended. */
internal fun CoordinationStore.leftOf(key: String): List<Any> {
    val text = read(key).toCompletableFuture().get().map { it.text() }.orElse("")
    if ("\"kind\":\"lock\"" !in text) return emptyList()
    return LockState.parse(text).let { it.shares() + it.queue() }
}
