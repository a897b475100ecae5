package baton.scheduler

import java.io.IOException
import java.nio.file.Path

/**
 * The file of a [JournalScheduleStore] is in use by another process, or by another store of this process. It can be
 * opened when that store is closed, or its process has ended, however it ended.
 *
 * @property path of the file.
 * @property pid of the process that uses the file; null if it is not known.
 */
public class JournalLockedException(message: String, public val path: Path, public val pid: Long?) :
    IOException(message)
