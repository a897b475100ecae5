package baton.scheduler.journal

/**
 * When a snapshot is due: as soon as the records appended since the last one, and since the last attempt that failed,
 * are longer than the rows that live, and than [MIN_APPENDED_BYTES].
 *
 * How long these rows are is an estimate, because no index of them is kept: the last snapshot without its deleted rows,
 * of which each deleted row is taken to be one. If it was not, a snapshot comes too early, and never too late.
 */
internal class SnapshotPolicy {
    private var snapshotBytes = 0L
    private var snapshotRows = 0L
    private var deletedRows = 0L
    private var appendedBytes = 0L

    val isDue: Boolean
        get() = appendedBytes >= maxOf(MIN_APPENDED_BYTES, liveBytes)

    private val liveBytes: Long
        get() {
            val liveRows = snapshotRows - deletedRows
            return if (liveRows <= 0) 0 else (snapshotBytes * (liveRows.toDouble() / snapshotRows)).toLong()
        }

    fun written(bytes: Long, rows: Int) {
        snapshotBytes = bytes
        snapshotRows = rows.toLong()
        deletedRows = 0
        appendedBytes = 0
    }

    fun failed() {
        appendedBytes = 0
    }

    fun appended(bytes: Long, deleted: Int) {
        appendedBytes += bytes
        deletedRows += deleted
    }

    companion object {
        const val MIN_APPENDED_BYTES = 1L shl 16
    }
}
