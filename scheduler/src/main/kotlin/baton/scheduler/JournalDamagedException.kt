package baton.scheduler

import java.io.IOException
import java.nio.file.Path

/**
 * The file of a [JournalScheduleStore] is damaged, or is no journal, and was not loaded: some of its rows would be
 * missing. The file is as it was. Restore it from a copy, or move it away to begin anew.
 *
 * @property path of the file.
 * @property offset in bytes, of the first record that cannot be read; 0 for the header of the file.
 */
public class JournalDamagedException(message: String, public val path: Path, public val offset: Long) :
    IOException(message)
