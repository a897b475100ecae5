package baton.scheduler

import java.io.IOException
import java.nio.file.Path

/**
 * The file of a [JournalScheduleStore] is in use by another process, or by another store of this process. It can be
 * opened when that store is closed, or its process has ended, however it ended. A store that was open throws it when
 * another process has taken the file, because this process lost its lock: see Misuse there.
 *
 * @property path of the file.
 * @property pid of the process that uses the file; null if it is not known, or no longer runs.
 */
public class JournalLockedException(message: String, public val path: Path, public val pid: Long?) :
    IOException(message)
