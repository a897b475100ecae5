package baton.interop;

import baton.scheduler.InMemoryScheduleStore;
import baton.scheduler.JournalScheduleStore;
import baton.scheduler.KeyCodec;
import baton.scheduler.ScheduleStore;
import java.nio.file.Path;
import java.util.Objects;

/** The stores of an {@link AsyncSchedule}. A store serves one schedule, which closes it at its end. */
public final class ScheduleStores {
    private ScheduleStores() {}

    /** Keeps the entries as long as the store object lives. */
    public static <K> ScheduleStore<K> inMemory() {
        return new InMemoryScheduleStore<>();
    }

    /** As {@link #journal(Path, KeyCodec)}, for keys that are strings. */
    public static ScheduleStore<String> journal(Path path) {
        return journal(path, KeyCodec.Companion.getSTRING());
    }

    /**
     * Keeps the entries in a file, which one process at a time may use; see {@link JournalScheduleStore} for what
     * survives a crash. The file is opened when the schedule starts.
     */
    public static <K> ScheduleStore<K> journal(Path path, KeyCodec<K> codec) {
        return new JournalScheduleStore<>(
                Objects.requireNonNull(path, "path"), Objects.requireNonNull(codec, "codec"), true);
    }
}
