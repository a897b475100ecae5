package baton.scheduler.journal

import baton.files.OwnedFiles
import java.io.IOException
import java.nio.file.Files
import java.nio.file.Path

/*
 * How it works
 *
 * The file is the only copy: rows are read from it for `load` and for a snapshot, and are not kept.
 *
 * Invariants:
 *  1. The bytes before `end` are valid records, each forced before its batch was confirmed (unless fsync is off).
 *  2. `revision` is that of the last record before `end`.
 *  3. Bytes after `end` are of a batch that failed. The next batch cuts them off before it writes.
 *     More bytes are another program's, and are left alone.
 *  4. The journal's name is always that of a whole file: a snapshot has another name until it is forced.
 *
 * The lock may have been lost to another process, and the file replaced by another program. So each operation looks at
 * the owner's mark and the file's identity first, a batch is confirmed only if the mark is there after it was written,
 * and a snapshot replaces only the file that it was made from.
 *
 * A batch that fails leaves `end` and `revision` as they were, so it counts as never written, although a crash before
 * the next batch may leave it in the file, whole. Its file is closed, because a channel that was interrupted is of no
 * more use, and is opened anew by the next call.
 *
 * When the appended records are longer than the rows that live, a snapshot of these replaces the journal: see
 * SnapshotPolicy. So the file is seldom longer than twice its live rows, and writing snapshots costs no more than
 * appending. A snapshot that fails costs nothing but space: the batch before it is confirmed, and the next attempt is
 * made when the journal has grown by as much again.
 */
/** An open journal, whose lock the caller holds. One thread at a time. */
internal class JournalLog(
    private val path: Path,
    private val fsync: Boolean,
    private val disk: JournalDisk,
    private val checkOwner: () -> Unit,
) : AutoCloseable {
    private val temporary = path.resolveSibling("${path.fileName}.snapshot")
    private var file: JournalFile? = null
    private val policy = SnapshotPolicy()
    private var end = 0L

    /** No byte of ours is behind it: above [end] after a batch that failed. */
    private var reach = 0L

    /** Of the file that has the journal's name; null before it is there. */
    private var identity: String? = null

    var revision = 0L
        private set

    /** Whether the schedule is paused as a whole. */
    var isPaused = false
        private set

    /** Why the last snapshot failed; null if it did not. */
    @Volatile
    var snapshotFailure: Throwable? = null
        private set

    /** Called once, before the others. Cuts off a torn tail, and creates a journal that is not there. */
    fun open(): JournalContents {
        OwnedFiles.delete(temporary)
        identity = OwnedFiles.identityOf(path) ?: return create()
        val contents = onFile { file -> JournalReader(path, file, file.size).read() }
        if (contents.end == 0L) return create()
        revision = contents.revision
        isPaused = contents.isPaused
        end = contents.end
        reach = end
        policy.written(contents.snapshotEnd, contents.snapshotRows)
        policy.appended(end - contents.snapshotEnd, contents.deletedRows)
        onFile { file -> if (file.size > end) file.truncate(end) }
        return contents
    }

    private fun create(): JournalContents {
        replaceBy(emptyList())
        return JournalContents(end = end, snapshotEnd = end)
    }

    fun read(): JournalContents = onFile { file -> JournalReader(path, file, end).read(confirmed = end) }

    /** Returns the revision of the batch when it is confirmed. */
    fun append(rows: List<JournalRow>, isPaused: Boolean? = null): Long {
        val next = Math.addExact(revision, 1L)
        val record = JournalCodec.batch(next, rows, isPaused)
        val length = record.remaining()
        onFile { file ->
            val size = file.size
            if (size < end)
                throw IOException("journal $path has $size bytes, and had $end: it was cut by another writer")
            if (size > reach)
                throw IOException("journal $path has $size bytes, and had $reach: another program has written to it")
            if (size > end) file.truncate(end)
            reach = end + length
            try {
                file.write(record, end)
                if (fsync) file.force()
            } catch (e: Throwable) {
                quietly(e) {
                    checkOwner()
                    file.truncate(end)
                }
                throw e
            }
            checkOwner()
        }
        revision = next
        this.isPaused = isPaused ?: this.isPaused
        end = reach
        policy.appended(length.toLong(), deleted = rows.count { it.deleted })
        if (policy.isDue) snapshot()
        return next
    }

    private fun snapshot() {
        try {
            replaceBy(read().rows.values)
            snapshotFailure = null
        } catch (e: Throwable) {
            // Also an OutOfMemoryError: the batch is on the disk.
            snapshotFailure = e
            policy.failed()
        }
    }

    private fun replaceBy(rows: Collection<JournalRow>) {
        val snapshot = disk.create(temporary, like = path)
        val length: Long
        val newIdentity: String?
        try {
            length = write(rows, snapshot)
            snapshot.force()
            closeFile() // Windows replaces no open file.
            checkFile()
            // Before it gets the journal's name: nothing that may fail comes afterwards.
            newIdentity = OwnedFiles.identityOf(temporary, name = path)
            disk.replace(temporary, path)
        } catch (e: Throwable) {
            quietly(e) { snapshot.close() }
            quietly(e) { Files.deleteIfExists(temporary) }
            throw e
        }
        file = snapshot
        identity = newIdentity
        end = length
        reach = length
        policy.written(length, rows.size)
    }

    /** The header is written last, when the length is known. */
    private fun write(rows: Collection<JournalRow>, snapshot: JournalFile): Long {
        var at = JournalCodec.HEADER_BYTES.toLong()
        val parts = if (isPaused && rows.isEmpty()) listOf(emptyList()) else rows.chunked(SNAPSHOT_ROWS)
        for (part in parts) {
            val record = JournalCodec.snapshot(revision, part, isPaused.takeIf { it })
            val length = record.remaining()
            snapshot.write(record, at)
            at += length
        }
        snapshot.write(JournalCodec.header(JournalHeader(revision, snapshotEnd = at)), 0)
        return at
    }

    private inline fun <T> onFile(operation: (JournalFile) -> T): T =
        try {
            checkFile()
            operation(file ?: disk.open(path).also { file = it })
        } catch (e: Throwable) {
            quietly(e) { closeFile() }
            throw e
        }

    private fun checkFile() {
        checkOwner()
        if (OwnedFiles.identityOf(path) != identity)
            throw IOException("journal $path was removed or replaced by another program")
    }

    private fun closeFile() {
        val open = file
        file = null
        open?.close()
    }

    override fun close() = closeFile()

    /** Runs [operation], whose failure matters less than [e], and is suppressed in it. */
    private inline fun quietly(e: Throwable, operation: () -> Unit) {
        try {
            operation()
        } catch (second: IOException) {
            e.addSuppressed(second)
        }
    }

    private companion object {
        const val SNAPSHOT_ROWS = 1000
    }
}
