package baton.shared.processes

import baton.shared.SharedLock
import baton.shared.SharedMutex
import baton.shared.SharedQueue
import baton.shared.SharedRegion
import baton.shared.withLock
import java.io.File
import java.nio.ByteBuffer
import java.nio.file.Files
import java.nio.file.Path
import kotlin.concurrent.thread
import kotlinx.coroutines.runBlocking

/** A process that uses a region. It halts when its parent does, or closes its input. */
internal object SharedChild {
    /** Its errors are in its output. [java] is the home of its JDK. */
    fun start(
        mode: String,
        path: Path,
        vararg args: String,
        java: String = System.getProperty("java.home"),
        flags: List<String> = emptyList(),
    ): Process {
        val brief = listOf("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx64m")
        val call = listOf("-cp", System.getProperty("java.class.path"), javaClass.name, mode, "$path") + args
        return ProcessBuilder(listOf(File(java, "bin/java").path) + brief + flags + call)
            .redirectErrorStream(true)
            .start()
    }

    @JvmStatic
    fun main(args: Array<String>) {
        val input = System.`in`
        val region = SharedRegion.open(Path.of(args[1]))
        val mutex = region.mutex("counter")
        val sections = GuardedSections(region.bytes("counter", GuardedSections.SIZE))
        if (args[0] == "hold") return hold(mutex, Path.of(args[1]), args.getOrNull(2))
        val parentWatch =
            thread(isDaemon = true) {
                input.readAllBytes()
                Runtime.getRuntime().halt(0)
            }
        when (args[0]) {
            "count" -> {
                repeat(args[2].toInt()) { mutex.lockBlocking().use { sections.increment() } }
                println("counted")
                Runtime.getRuntime().halt(0)
            }
            "wait" -> {
                println("waiting")
                mutex.lockBlocking().use { println("locked ${it.abandoned}") }
            }
            "permits" -> {
                if (args.size > 3) println("waiting")
                region.semaphore("s", permits = 3).acquireBlocking(args[2].toInt())
                println("acquired")
            }
            "jobs" -> {
                val group = region.waitGroup("g")
                group.add(args[2].toInt())
                repeat(args[3].toInt()) { group.done() }
                println("added")
            }
            "done" -> {
                repeat(args[2].toInt()) { region.waitGroup("g").done() }
                println("done")
                Runtime.getRuntime().halt(0)
            }
            "arrive" -> {
                val barrier = region.barrier("b", parties = 3)
                println(
                    runBlocking {
                        runCatching { barrier.arrive() }.getOrElse { if (barrier.isBroken) "broken" else it }
                    }
                )
            }
            "await" ->
                runBlocking {
                    mutex.withLock { lock ->
                        println("locked")
                        mutex.condition("changed").await(lock)
                        println("signalled ${lock.abandoned}")
                    }
                }
            "put" -> {
                val queue = SharedQueue(region)
                runBlocking { for (element in args[2].toLong()..args[3].toLong()) queue.put(element) }
                println("put")
            }
            "hammer permits" -> {
                val semaphore = region.semaphore("s", permits = 3)
                val uses = region.bytes("uses", Long.SIZE_BYTES)
                while (true) {
                    for (permits in 1..3) {
                        // The count is not exact: it only shows that this goes on.
                        semaphore.acquireBlocking(permits).use { uses.putLong(0, uses.getLong(0) + 1) }
                    }
                }
            }
            "hammer" -> {
                println("hammering ${region.waiting}")
                while (true) mutex.lockBlocking().use { sections.run(it) }
            }
        }
        // This process keeps all that it holds until its parent ends it.
        parentWatch.join()
    }

    /** Holds the lock until a line comes; then unlocks. */
    private fun hold(mutex: SharedMutex, path: Path, mode: String?) {
        val lock = mutex.lockBlocking()
        // Any close of the side file drops the locks of this process on it.
        if (mode == "stray") Files.readAllBytes(path.resolveSibling(".${path.fileName}.live"))
        println("held")
        val isToldToClose = readlnOrNull() != null
        if (isToldToClose) lock.close()
        if (mode == "leave") System.exit(0)
        println("closed")
        readlnOrNull()
        Runtime.getRuntime().halt(0)
    }
}

/** Two words that a section makes equal at its end, so that a section that was torn shows. */
internal class GuardedSections(private val bytes: ByteBuffer) {
    val sections: Long
        get() = bytes.getLong(FIRST)

    val violations: Long
        get() = bytes.getLong(VIOLATIONS)

    val repairs: Long
        get() = bytes.getLong(REPAIRS)

    val torn: Long
        get() = bytes.getLong(TORN)

    fun increment() {
        bytes.putLong(FIRST, bytes.getLong(FIRST) + 1)
    }

    /** The data are torn for most of the section on purpose. */
    fun run(lock: SharedLock) {
        val first = bytes.getLong(FIRST)
        val isTorn = first != bytes.getLong(SECOND)
        if (lock.abandoned) {
            if (isTorn) add(TORN)
            add(REPAIRS)
            bytes.putLong(SECOND, first)
            lock.markConsistent()
        } else if (isTorn) {
            add(VIOLATIONS)
            bytes.putLong(SECOND, first)
        }
        if (lock.fencingToken <= bytes.getLong(LAST_TOKEN)) add(VIOLATIONS)
        bytes.putLong(LAST_TOKEN, lock.fencingToken)
        bytes.putLong(FIRST, first + 1)
        repeat(200) { Thread.onSpinWait() }
        bytes.putLong(SECOND, first + 1)
    }

    private fun add(counter: Int) {
        bytes.putLong(counter, bytes.getLong(counter) + 1)
    }

    companion object {
        const val SIZE = 48
        private const val FIRST = 0
        private const val SECOND = 8
        private const val LAST_TOKEN = 16
        private const val VIOLATIONS = 24
        private const val REPAIRS = 32
        private const val TORN = 40
    }
}
