package baton.shared

import java.nio.file.Path
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue

/** Processes that run guarded sections and are killed again and again, while they hold the lock or wait for it. */
internal class SharedCrashes(private val path: Path, number: Int) {
    private val random = Random(number)
    private var summary = ""

    fun kill(times: Int) {
        SharedRegion.open(path).use { region ->
            val sections = GuardedSections(region.bytes("counter", GuardedSections.SIZE))
            val children = MutableList(3) { SharedChild.start("hammer", path) }
            try {
                repeat(times) { kill(children, sections) }
                awaitProgress(children, sections)
            } finally {
                children.forEach(::end)
            }
            // All are dead: the last one perhaps within its section.
            region.mutex("counter").lockBlocking().use { sections.run(it) }
            summary =
                "${sections.sections} sections, ${sections.repairs} repairs, ${sections.torn} of them of torn data"
            assertEquals(0, sections.violations, summary)
            assertTrue(sections.repairs > 0, summary)
        }
    }

    private fun kill(children: MutableList<Process>, sections: GuardedSections) {
        awaitProgress(children, sections)
        // A time, not a number: so that the kill meets any step.
        val end = System.nanoTime() + random.nextLong(3_000_000)
        while (System.nanoTime() < end) Thread.onSpinWait()
        val index = random.nextInt(children.size)
        end(children[index])
        children[index] = SharedChild.start("hammer", path)
    }

    private fun awaitProgress(children: List<Process>, sections: GuardedSections) {
        val enough = sections.sections + 50
        val deadline = System.nanoTime() + 120_000_000_000
        while (sections.sections < enough) {
            children.firstOrNull { !it.isAlive }?.let { error(it.inputReader().readText()) }
            check(System.nanoTime() < deadline) { "no progress: $children" }
            Thread.yield()
        }
    }

    private fun end(child: Process) {
        child.toHandle().destroyForcibly()
        child.waitFor()
        child.inputReader().close()
    }

    override fun toString() = summary
}
