package baton.scheduler.journal.crash

import baton.scheduler.JournalScheduleStore
import baton.scheduler.KeyCodec
import baton.scheduler.journal.JournalRow
import baton.scheduler.journal.deleted
import baton.scheduler.journal.row
import java.io.File
import java.nio.file.Path
import kotlinx.coroutines.runBlocking

/** The process that is killed: it applies the batches from a number on, and prints each number that is confirmed. */
internal object JournalCrashChild {
    private const val KEYS = 40

    /** Long enough for a snapshot every few batches. */
    private val FILLER = "x".repeat(600)

    /** Batch [number] is always the same, so that its rows need not be printed. */
    fun batch(number: Long): List<JournalRow> {
        val first = (number * 7 % KEYS).toInt()
        return List(9) {
            val key = "key ${(first + it * 3) % KEYS}"
            if (it == 8) deleted(key) else row(key, "every PT2M $FILLER", due = number)
        }
    }

    /** A process that begins with [batch]. Its errors are in its output. */
    fun start(path: Path, batch: Long): Process {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val flags = listOf("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Xshare:auto", "-Xmx64m")
        val call = listOf("-cp", System.getProperty("java.class.path"), javaClass.name, "$path", "$batch")
        return ProcessBuilder(listOf(java) + flags + call).redirectErrorStream(true).start()
    }

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val store = JournalScheduleStore(Path.of(args[0]), KeyCodec.STRING)
        var number = args[1].toLong()
        store.load(0)
        // Ends when the parent does.
        while (!System.out.checkError()) {
            store.apply(batch(number))
            println(number++)
        }
    }
}
