package baton.scheduler.journal

import java.nio.file.Path

/**
 * The life of a journal: opened by the first call, closed, and opened again by a later [load]. One thread at a time.
 */
internal class Journal(private val path: Path, private val fsync: Boolean, private val disk: JournalDisk = FileDisk) :
    AutoCloseable {
    private var lock: JournalLock? = null
    @Volatile private var log: JournalLog? = null
    private var isClosed = false

    /** Why the last snapshot failed; null if it did not. Any thread may read it. */
    val snapshotFailure: Throwable?
        get() = log?.snapshotFailure

    /** The rows that live, with a revision above [since]. */
    fun load(since: Long): List<JournalRow> {
        val open = log
        if (open != null && since >= open.revision) return emptyList<JournalRow>().also { lock?.check() }
        val contents = open?.read() ?: open().second
        return contents.rows.values.filter { it.revision > since }
    }

    /** Whether the schedule is paused as a whole. */
    val isPaused: Boolean
        get() = opened().isPaused

    fun setPaused(isPaused: Boolean) {
        opened().append(emptyList(), isPaused)
    }

    fun append(rows: List<JournalRow>): Long = opened().append(rows)

    private fun opened(): JournalLog {
        // A call that is late must not take the file from its next user.
        check(!isClosed) { "journal $path is closed" }
        return log ?: open().first
    }

    private fun open(): Pair<JournalLog, JournalContents> {
        val lock = JournalLock.take(path)
        val log = JournalLog(lock.journal, fsync, disk, lock::check)
        try {
            val contents = log.open()
            this.lock = lock
            this.log = log
            isClosed = false
            return log to contents
        } catch (e: Throwable) {
            lock.use { log.use { throw e } }
        }
    }

    override fun close() {
        isClosed = true
        val openLog = log
        val heldLock = lock
        log = null
        lock = null
        heldLock.use { openLog?.close() }
    }
}
