package samples.support.uptime;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import samples.support.UsageException;
import samples.support.Values;

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
    public static final String HELP = """
            Checks endpoints over HTTP at their intervals, each host by a breaker of its own, and says which are down and which are up
            again. A second check confirms each change. The endpoints that come with the sample are at a server that this program starts;
            it knows what it did, so the summary compares that with the changes that were found. Ctrl-C ends the run with a summary, too.

            Options:
              --for TIME         how long it runs (default: 20s)
              --speed N          shortens all intervals N times, and the timeout of 10 s down to 3 s; 1 is as the file says (default: 60)
              --endpoints FILE   a line for each endpoint: name url interval priority, and GET if HEAD will not do, for example
                                   login https://login.example/health 60s HIGH
                                 The file may be edited meanwhile; an edit with a wrong line is not taken over
                                 (default: 500 endpoints that come with the sample)
              --state FILE       keeps the schedule in a journal, from which the next run carries on (default: in memory)
              --store URL        keeps it in a database instead: jdbc:sqlite:FILE, jdbc:h2:FILE or jdbc:postgresql://HOST/NAME?user=…;
                                 tables that are not there are created
              --concurrency N    checks at a time (default: 200)
              --serve PORT       shows a page on this port of the computer, 0 for a free one (default: no page)
              --metrics          prints what the monitor measures as text for Prometheus at the end; with --serve it is at /metrics, too
              --help             this text

            Exit code: 0 if all is well, 1 if there is no endpoint, or the state or the port cannot be used, or other changes were
            found than the server made; 2 for wrong usage.""";

    private static final int MAX_SPEED = 1000;
    private static final int MAX_CONCURRENCY = 10_000;
    private static final int MAX_PORT = 65_535;

    /** Of a check. */
    private static final Duration TIMEOUT = Duration.ofSeconds(10);

    /** Not even a busy computer needs so long for a check of its own server. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofSeconds(3);

    static MonitorOptions parse(String[] args) throws UsageException {
        Duration length = Duration.ofSeconds(20);
        int speed = 60;
        Path endpoints = null;
        MonitorState state = null;
        int concurrency = 200;
        Integer port = null;
        boolean hasMetrics = false;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--for" -> length = Values.time(option, words);
                case "--speed" -> speed = Values.count(option, words, 1, MAX_SPEED);
                case "--endpoints" -> endpoints = Values.path(option, words);
                case "--state" -> state = new MonitorState(Values.path(option, words), null);
                case "--store" -> state = MonitorState.ofUrl(Values.word(option, words));
                case "--concurrency" -> concurrency = Values.count(option, words, 1, MAX_CONCURRENCY);
                case "--serve" -> port = Values.count(option, words, 0, MAX_PORT);
                case "--metrics" -> hasMetrics = true;
                default -> throw Values.unknown(option);
            }
        }
        return new MonitorOptions(length, speed, endpoints, state, concurrency, port, hasMetrics);
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
