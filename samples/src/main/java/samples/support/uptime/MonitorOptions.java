package samples.support.uptime;

import java.nio.file.Path;
import java.time.Duration;
import samples.support.CommandOptions;
import samples.support.UsageException;

/**
 * The command line options of the uptime monitor.
 *
 * @param length how long it runs.
 * @param speed by how much times are shortened.
 * @param endpoints the file of the endpoints, null for the one that comes with the sample.
 * @param state where the schedule is kept, null for nowhere.
 * @param concurrency the number of checks at a time.
 * @param port that of the page, 0 for a free one; null for no page.
 * @param hasMetrics whether the meters are shown.
 */
public record MonitorOptions(
        Duration length,
        int speed,
        Path endpoints,
        MonitorState state,
        int concurrency,
        Integer port,
        boolean hasMetrics) {

    /** Of a check. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Not even a busy computer needs so long for a check of its own server. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(3);

    static CommandOptions command() {
        return new CommandOptions("""
                Checks endpoints over HTTP at their intervals, each host by a breaker of its own, and says which are down and which are up
                again. A second check confirms each change. The endpoints that come with the sample are at a server that this program starts;
                it knows what it did, so the summary compares that with the changes that were found. Ctrl-C ends the run with a summary, too.
                """, """
                Exit code: 0 if all is well, 1 if there is no endpoint, or the state or the port cannot be used, or other changes were
                found than the server made; 2 for wrong usage.""")
                .time("--for", "how long it runs (default: 20s)")
                .count("--speed", 1, 1000, """
                        shortens all intervals N times, and the timeout of 10 s down to 3 s; 1 is as the file says
                        (default: 60)""")
                .path("--endpoints", """
                        a line for each endpoint: name url interval priority, and GET if HEAD will not do, for example
                          login https://login.example/health 60s HIGH
                        The file may be edited meanwhile; an edit with a wrong line is not taken over
                        (default: 500 endpoints that come with the sample)""")
                .path(
                        "--state",
                        "keeps the schedule in a journal, from which the next run carries on (default: in memory)")
                .text("--store", "URL", """
                        keeps it in a database instead: jdbc:sqlite:FILE, jdbc:h2:FILE or jdbc:postgresql://HOST/NAME?user=…;
                        tables that are not there are created""")
                .count("--concurrency", 1, 10_000, "checks at a time (default: 200)")
                .count(
                        "--serve",
                        0,
                        65_535,
                        "shows a page on this port of the computer, 0 for a free one (default: no page)")
                .flag("--metrics", """
                        prints what the monitor measures as text for Prometheus at the end; with --serve it is at
                        /metrics, too""");
    }

    static MonitorOptions of(CommandOptions given) throws UsageException {
        String url = given.value("--store", null);
        Path journal = given.value("--state", null);
        MonitorState state = journal == null ? null : new MonitorState(journal, null);
        return new MonitorOptions(
                given.value("--for", Duration.ofSeconds(20)),
                given.value("--speed", 60),
                given.value("--endpoints", null),
                url == null ? state : MonitorState.ofUrl(url),
                given.value("--concurrency", 200),
                given.value("--serve", null),
                given.value("--metrics", false));
    }

    /** {@code time}, shortened. */
    public Duration shortened(Duration time) {
        return time.dividedBy(speed);
    }

    /** How long an attempt may take. */
    public Duration timeout() {
        Duration timeout = shortened(TIMEOUT);
        return timeout.compareTo(SHORTEST_TIMEOUT) < 0 ? SHORTEST_TIMEOUT : timeout;
    }
}
