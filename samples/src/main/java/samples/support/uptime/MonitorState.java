package samples.support.uptime;

import baton.interop.AsyncScheduleEdits;
import baton.interop.ScheduleStores;
import baton.scheduler.ScheduleStore;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import samples.support.Redaction;
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

    /** A URL of a database that is not a file of this computer. The group is what precedes the parameters. */
    private static final Pattern SERVER = Pattern.compile("jdbc:(?:postgresql|h2:tcp|h2:ssl):(?://)?([^?;]*)");

    private static final String HOST = "(?:[\\w.-]*|\\[[\\p{XDigit}:.]+])(?::\\d{1,5})?";
    private static final Pattern HOSTS = Pattern.compile(HOST + "(?:," + HOST + ")*(?:/[^@]*)?");

    private static final String TABLE = "uptime_monitor";

    static MonitorState ofUrl(String url) throws UsageException {
        if (DATABASES.stream().noneMatch(url::startsWith)) {
            // The rest may be a password, in a form that only the driver of another database knows.
            String kind = url.replaceFirst("(?s)^((?:jdbc:)?[^:]*:).*", "$1...");
            throw new UsageException("--store must begin with jdbc:sqlite:, jdbc:h2: or jdbc:postgresql:, not '"
                    + TextFile.shown(kind) + "'");
        }
        Matcher server = SERVER.matcher(url);
        if (server.lookingAt() && !HOSTS.matcher(server.group(1)).matches()) {
            // The driver of PostgreSQL takes what follows a colon for a port, and logs it.
            throw new UsageException("--store has a user and a password as parameters, as in ?user=…&password=…, and"
                    + " before the name of the database nothing but a host, or a host and its port");
        }
        return new MonitorState(null, url);
    }

    /** Opens it; the tables are created if they are not there. */
    public ScheduleStore<String> open() {
        if (journal != null) return ScheduleStores.journal(journal);
        UrlDataSource source = new UrlDataSource(url);
        AsyncScheduleEdits.of(source, TABLE).createTables().join();
        return ScheduleStores.jdbc(source, TABLE);
    }

    /** Finds the secrets of the URL in what a driver says. */
    Redaction redaction() {
        return url == null ? Redaction.GENERAL : new Redaction(url);
    }

    /** Without what follows the name of a database: that may be a password. */
    @Override
    public String toString() {
        return journal != null ? journal.toString() : url.replaceFirst("(?s)[?;].*", "");
    }
}
