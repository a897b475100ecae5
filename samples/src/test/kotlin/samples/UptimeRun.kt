package samples

import java.io.BufferedReader
import java.nio.file.Files
import java.nio.file.Path
import java.nio.file.StandardCopyOption.REPLACE_EXISTING
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.io.TempDir

/** Runs UptimeMonitor with a file of endpoints. */
abstract class UptimeRun {
    protected val sample: Sample = samples.java.UptimeMonitor::run

    @TempDir lateinit var directory: Path

    protected val file by lazy { directory.resolve("mine.txt") }
    private val children = mutableListOf<Process>()

    @AfterEach fun endChildren() = children.forEach { it.destroyForcibly() }

    protected fun write(vararg lines: String) {
        // In one step: a file that is read while it is written may lack lines.
        val whole = Files.write(directory.resolve("whole"), lines.asList())
        Files.move(whole, file, REPLACE_EXISTING)
    }

    protected fun run(vararg args: String) = sample.runHere("--endpoints", "$file", *args)

    protected fun start(vararg args: String, jvm: List<String> = emptyList()): Process =
        Twin.JAVA.start("UptimeMonitor", "--endpoints", "$file", *args, jvm = jvm).also { children += it }

    protected fun BufferedReader.awaitLine(end: String): String {
        val lines = mutableListOf<String>()
        while (lines.lastOrNull()?.endsWith(end) != true) {
            lines += readLine() ?: throw AssertionError("no line '$end' in $lines")
        }
        return lines.last()
    }
}
