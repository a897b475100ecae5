package baton.scheduler.journal

import java.nio.file.Files
import java.nio.file.Path
import kotlin.io.path.name
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.io.TempDir

/** A journal in a directory of its own, on a disk that may fail. */
internal abstract class JournalFixture {
    @TempDir protected lateinit var directory: Path
    protected val disk = FaultyDisk()
    protected val path: Path
        get() = directory.resolve("checks.journal")

    protected var journal: Journal? = null

    protected fun open(fsync: Boolean = true): Journal = Journal(path, fsync, disk).also { journal = it }

    @AfterEach
    fun close() {
        journal?.close()
    }

    protected fun keys(journal: Journal): Set<String> = journal.load(0).mapTo(HashSet()) { it.key }

    /** The contents as another process reads them. */
    protected fun storedKeys(): Set<String> {
        journal?.close()
        val stored = Journal(path, fsync = true)
        return stored.use { keys(it) }
    }

    protected fun files(): Set<String> = Files.list(directory).use { files -> files.map { it.name }.toList().toSet() }

    /** Enough for one snapshot. */
    protected fun grow(journal: Journal): Long {
        val rows = List(3) { row("big", "t".repeat(30_000)) }
        return rows.maxOf { journal.append(listOf(it)) }
    }
}
