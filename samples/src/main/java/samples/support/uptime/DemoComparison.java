package samples.support.uptime;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The changes that a monitor has found beside those that the demo server made. A change counts if it lasted long enough
 * to be found; one that did not may be found or not.
 */
final class DemoComparison {
    /** For the retry, the end of the run, and the delays of a busy computer. */
    private static final Duration SLACK = Duration.ofSeconds(3);

    private final MonitorOptions options;
    private final DemoServer server;
    private final Duration lag;
    private final List<String> differences = new ArrayList<>();
    private int endpoints;
    private int found;
    private int foundThere;
    private int made;

    /** A check begins {@code lag} after it is due, at most. */
    DemoComparison(MonitorOptions options, DemoServer server, Collection<Watch> watches, Duration lag) {
        this.options = options;
        this.server = server;
        this.lag = lag;
        for (Watch watch : watches) {
            found += watch.history.changes();
            if (DemoServer.kind(watch.endpoint.url()) != null) add(watch);
        }
    }

    private void add(Watch watch) {
        endpoints++;
        int its = watch.history.changes();
        foundThere += its;
        List<Long> all = server.changes(watch.endpoint.url(), watch.since, watch.until());
        int expected = Math.min(Math.max(its, lasting(all, watch)), all.size());
        made += expected;
        if (its != expected) {
            differences.add(watch.endpoint.name() + ": " + expected + " changes were made, " + its + " found");
        }
    }

    /** How many changes must have been found: those before the first one that did not last. */
    private int lasting(List<Long> changes, Watch watch) {
        long patience = patience(watch.endpoint).toNanos();
        int count = 0;
        while (count < changes.size()) {
            long end = count + 1 < changes.size() ? changes.get(count + 1) : watch.until();
            if (end - changes.get(count) < patience) break;
            count++;
        }
        return count;
    }

    /** The longest time until a second check has confirmed a change. */
    private Duration patience(Endpoint endpoint) {
        Duration patience =
                options.shortened(endpoint.interval()).plus(lag.multipliedBy(2)).plus(SLACK);
        boolean hangs = DemoServer.kind(endpoint.url()) == DemoServer.Kind.HANGING;
        return hangs ? patience.plus(options.timeout().multipliedBy(2)) : patience;
    }

    /** The number of all changes found, also where there is nothing to compare them with. */
    int found() {
        return found;
    }

    /** One line, empty if no endpoint was at the server. */
    String note() {
        if (endpoints == 0) return "";
        String there = found == foundThere ? "" : foundThere + " of them at the demo server; ";
        return there + "the demo server made " + made + (differences.isEmpty() ? ": the same" : ": NOT the same");
    }

    /** A line for each endpoint whose changes were not found as they were made. */
    List<String> differences() {
        return differences;
    }
}
