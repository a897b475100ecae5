package baton.shared.processes

import java.nio.file.Path
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.io.TempDir

/** Processes that use the region in [path] and end with the test. */
abstract class ChildProcesses {
    @TempDir private lateinit var directory: Path
    private val children = ArrayList<Process>()

    protected val path: Path
        get() = directory.resolve("app")

    @AfterEach fun endChildren() = children.forEach(::kill)

    protected fun start(mode: String, vararg args: String): Process =
        SharedChild.start(mode, path, *args).also { children += it }

    protected fun Process.expect(line: String) = assertEquals(line, inputReader().readLine())

    protected fun Process.expectStart(start: String) {
        val line = inputReader().readLine()
        assertTrue(line.orEmpty().startsWith(start), line)
    }

    protected fun Process.tell(line: String) {
        outputWriter().write(line + "\n")
        outputWriter().flush()
    }

    protected fun signal(name: String, child: Process) =
        assertEquals(0, ProcessBuilder("kill", "-$name", "${child.pid()}").start().waitFor())

    protected fun kill(child: Process) {
        child.toHandle().destroyForcibly()
        child.waitFor()
    }
}
