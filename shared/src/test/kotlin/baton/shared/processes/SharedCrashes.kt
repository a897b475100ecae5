package baton.shared.processes

import baton.shared.SharedRegion
import java.nio.file.Path
import java.time.Duration
import kotlin.random.Random
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNotNull
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue

/** Processes that hold and wait by turns, and are killed again and again. */
internal class SharedCrashes(private val path: Path, number: Int) {
    private val random = Random(number)
    private var summary = ""

    /**
     * Kills processes that run guarded sections: [times], and up to five times as often until one was within its
     * section.
     */
    fun killSections(times: Int) {
        SharedRegion.open(path).use { region ->
            val sections = GuardedSections(region.bytes("counter", GuardedSections.SIZE))
            repeat(5) { if (it == 0 || sections.repairs == 0L) kill(times, "hammer", steps = 50) { sections.sections } }
            // All are dead: the last one perhaps within its section.
            region.mutex("counter").lockBlocking().use { sections.run(it) }
            summary =
                "${sections.sections} sections, ${sections.repairs} repairs, ${sections.torn} of them of torn data"
            assertEquals(0, sections.violations, summary)
            assertTrue(sections.repairs > 0, summary)
        }
    }

    /** Kills processes that take and return one to three permits of three. */
    fun killPermits(times: Int) {
        SharedRegion.open(path).use { region ->
            val uses = region.bytes("uses", Long.SIZE_BYTES)
            kill(times, "hammer permits", steps = 5) { uses.getLong(0) }
            val semaphore = region.semaphore("s", permits = 3)
            assertNotNull(semaphore.acquireBlocking(3, Duration.ofMinutes(2)), "a permit was lost: $semaphore")
            assertEquals(0, semaphore.availablePermits)
            assertNull(semaphore.tryAcquire(), "a permit was doubled")
            summary = "about ${uses.getLong(0)} uses"
        }
    }

    private fun kill(times: Int, mode: String, steps: Int, progress: () -> Long) {
        val children = MutableList(3) { SharedChild.start(mode, path) }
        try {
            repeat(times) {
                awaitProgress(children, steps, progress)
                // A time, not a number: so that the kill meets any step.
                val end = System.nanoTime() + random.nextLong(3_000_000)
                while (System.nanoTime() < end) Thread.onSpinWait()
                val index = random.nextInt(children.size)
                end(children[index])
                children[index] = SharedChild.start(mode, path)
            }
            awaitProgress(children, steps, progress)
        } finally {
            children.forEach(::end)
        }
    }

    private fun awaitProgress(children: List<Process>, steps: Int, progress: () -> Long) {
        val enough = progress() + steps
        val deadline = System.nanoTime() + 120_000_000_000
        while (progress() < enough) {
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
