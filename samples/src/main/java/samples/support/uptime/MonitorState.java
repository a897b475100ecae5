package samples.support.uptime;

import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.scheduler.ScheduleStore;
import java.nio.file.Path;
import java.util.List;
import samples.support.TextFile;
import samples.support.UsageException;

/**
 * Where the uptime monitor keeps its schedule.
 *
 * @param journal the file, null if it is a database.
 * @param url the database, null if it is a file.
 */
public record MonitorState(Path journal, String url) {
    static final List<String> DATABASES = List.of("jdbc:sqlite:", "jdbc:h2:", "jdbc:postgresql:");
    private static final String TABLE = "uptime_monitor";

    static MonitorState ofUrl(String url) throws UsageException {
        if (DATABASES.stream().anyMatch(url::startsWith)) return new MonitorState(null, url);
        throw new UsageException("--store must begin with jdbc:sqlite:, jdbc:h2: or jdbc:postgresql:, not '"
                + TextFile.shown(url) + "'");
    }

    /** Opens it; the tables are created if they are not there. */
    public ScheduleStore<String> open() {
        if (journal != null) return ScheduleStores.journal(journal);
        UrlDataSource source = new UrlDataSource(url);
        AsyncScheduleEdits.of(source, TABLE).createTables().join();
        return ScheduleStores.jdbc(source, TABLE);
    }

    /** Without what follows the name of a database: that may be a password. */
    @Override
    public String toString() {
        return journal != null ? journal.toString() : url.replaceFirst("[?;].*", "");
    }
}
