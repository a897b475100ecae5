package baton.scheduler

import baton.scheduler.journal.Journal
import baton.scheduler.journal.JournalRow
import baton.scheduler.schedule.BlockingCalls
import baton.scheduler.schedule.KeyTexts
import baton.waiting.threads.LimitedViews
import java.nio.file.Path
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.emptyFlow

/**
 * A store in one local file, for a [Schedule] of one process: it survives the end of the process, however that comes,
 * and with [fsync] a failure of the power.
 *
 * Pass it to a [Schedule], which opens and closes it. A program without a schedule can read the rows:
 * ```
 * val store = JournalScheduleStore(Path.of("checks.journal"), KeyCodec.STRING)
 * for (row in store.load(since = 0)) println("${row.key}: ${row.trigger}, next due ${row.nextDue}")
 * store.close()
 * ```
 *
 * **Durability.** [apply] appends its rows to the file as one record with a checksum, and returns when they are on the
 * disk: one `force` for each flush of the schedule. A crash leaves each batch in the file as a whole or not at all, and
 * all those whose `apply` has returned. Without [fsync] this holds for a crash of the process only; after a crash of
 * the machine the last batches may be missing, or the file may be damaged.
 *
 * **Space.** When the appended records are longer than the rows that live, and than 64 KiB, a snapshot of these
 * replaces the file. So it is seldom longer than twice its live rows and 64 KiB. If a snapshot fails, the journal goes
 * on without, and [toString] shows why. Besides, there is `checks.journal.lock`, which stays, and
 * `checks.journal.snapshot` while a snapshot is written. Rows are not kept in memory; [load] and a snapshot need memory
 * for all of them meanwhile.
 *
 * **Files.** The three are regular files: a directory, device, FIFO or socket at one of their names is refused with an
 * `IOException`, and left as it is. [path] may lead through links to a file that exists; a link whose target is missing
 * is refused, and so is any link at the name of the lock or the snapshot. New files are for their owner alone,
 * `rw-------`, because a user who may read the lock could hold it. A file that exists keeps its permissions, and a
 * snapshot keeps those of the journal. To give a journal other permissions, make an empty file with them: it becomes a
 * journal.
 *
 * **Errors.** A file that is damaged, is no journal, or has another version of the format, is not loaded and not
 * changed: [JournalDamagedException] names the offset. An unfinished record with no valid record behind it comes from a
 * crash, and is cut off; so is the last record when it is damaged and a failure of the power may be the cause, as in
 * one that reaches over several sectors of the disk. While another process or another store uses the file, a call
 * throws [JournalLockedException], which names the process if it is known to run. If the disk is full or fails, [apply]
 * throws an `IOException` and counts as never begun; a later one works again when the disk does, and removes what was
 * left.
 *
 * **Bounds.** The text of a key or of a trigger has at most 65,535 bytes in UTF-8, where characters beyond U+FFFF count
 * as 6 and U+0000 as 2; the rows of a batch have 1 GiB together. A batch that exceeds a bound is refused as a whole, by
 * `IllegalArgumentException`.
 *
 * **Threads and cancellation.** Any thread may call it; the file operations run one after the other on
 * [Dispatchers.IO]. A cancelled call returns at once: a file operation that has not begun is left out, and one that has
 * begun goes on in the background, to its end. Later calls wait for it.
 *
 * **Misuse.** Do not write to the file, move or delete it while a store has it open, and do not share it over a network
 * file system that has no locks. A file that was moved, deleted or replaced is an `IOException` of the next call. A
 * hard link to it is another journal to the lock.
 *
 * A program must not open the lock file of its own store, also to copy, compare or zip the directory: by POSIX, the
 * system drops the lock when any code of the process closes that file. Another process can open the journal then. Each
 * later call of this store throws [JournalLockedException] and writes nothing, until [close] and [load]. A batch that
 * either of them confirmed stays, with one exception: a process that is stopped within a call, between its look at the
 * lock file and its write, while another process opens the journal and confirms a batch, overwrites that batch, and
 * throws. Copy the journal from another process, or leave out `*.lock`.
 *
 * @property path of the file; its directory must exist. The first [load] or [apply] creates the file if there is none,
 *   or opens it.
 * @property fsync whether [apply] waits until the rows are on the disk, and not only with the operating system.
 * @param codec turns the keys into text; a file must always be opened with the same.
 */
public class JournalScheduleStore<K : Any>
@JvmOverloads
constructor(public val path: Path, private val codec: KeyCodec<K>, public val fsync: Boolean = true) :
    ScheduleStore<K> {
    private val journal = Journal(path, fsync)
    private val files = BlockingCalls(LimitedViews.of(Dispatchers.IO, 1))

    /**
     * As [ScheduleStore.load]. No other process writes, so deleted rows are forgotten. After [close] this opens the
     * file again.
     *
     * @throws IllegalArgumentException if [since] is below 0.
     * @throws IllegalStateException if the codec cannot decode a key in the file.
     * @throws JournalDamagedException if the file is damaged, or is no journal.
     * @throws JournalLockedException if the file is in use.
     * @throws java.io.IOException if the directory is missing, or the file cannot be read or written.
     */
    override suspend fun load(since: Long): List<ScheduleRow<K>> {
        require(since >= 0) { "since = $since, must be at least 0" }
        return files.call { journal.load(since).map(::decoded) }
    }

    /**
     * As [ScheduleStore.apply]. If a key occurs more than once, the last row holds.
     *
     * @throws IllegalArgumentException if there is no row, they are too long, or the codec fails for a key.
     * @throws IllegalStateException after [close].
     * @throws JournalDamagedException if the file was not open, and is damaged, or is no journal.
     * @throws JournalLockedException if the file was not open, and is in use.
     * @throws java.io.IOException if the directory is missing, or the file cannot be read or written.
     */
    override suspend fun apply(rows: List<ScheduleRow<K>>): Long {
        require(rows.isNotEmpty()) { "rows is empty, must hold at least one" }
        return files.call { journal.append(rows.map(::encoded)) }
    }

    /** An empty flow: no other process writes to the file. */
    override fun edits(): Flow<List<ScheduleRow<K>>> = emptyFlow()

    /** Frees the file, also if the caller is cancelled. No effect if it is not open. */
    override suspend fun close() {
        files.callAnyhow { journal.close() }
    }

    /** As [ScheduleStore.isPaused], with the exceptions of [load]. */
    override suspend fun isPaused(): Boolean = files.call { journal.isPaused }

    /** As [ScheduleStore.setPaused], with the exceptions of [apply]. */
    override suspend fun setPaused(isPaused: Boolean): Unit = files.call { journal.setPaused(isPaused) }

    private fun encoded(row: ScheduleRow<K>): JournalRow = row.with(KeyTexts.of(row.key, codec), revision = 0)

    private fun decoded(row: JournalRow): ScheduleRow<K> = row.with(keyOf(row.key), row.revision)

    private fun keyOf(text: String): K =
        try {
            codec.decode(text)
        } catch (e: IllegalArgumentException) {
            throw IllegalStateException("journal $path holds the key '$text', which is none of the codec $codec", e)
        }

    override fun toString(): String {
        val failure = journal.snapshotFailure?.let { ", last snapshot failed: $it" } ?: ""
        return "JournalScheduleStore (path = $path, fsync = $fsync$failure)"
    }
}
