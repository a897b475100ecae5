package samples.support.uptime;

import baton.Priority;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Collectors;
import samples.support.CommandOptions;
import samples.support.TextFile;
import samples.support.UsageException;

/**
 * An address that is checked again and again.
 *
 * @param name by which it is known; each endpoint has another one.
 * @param interval the time between two checks.
 * @param priority the level of its checks.
 * @param isGet whether a check sends GET, because the endpoint does not support HEAD.
 */
public record Endpoint(String name, URI url, Duration interval, Priority priority, boolean isGet) {
    private static final int MAX_PORT = 65_535;
    private static final String FORM = "an endpoint is 'name url interval priority', and 'GET' if need be";

    /** Of the form {@code name url interval priority [GET]}, with white space between. The message says what is wrong. */
    static Endpoint parse(String line) throws UsageException {
        if (!TextFile.isPrintable(line)) throw new UsageException("a line has no control characters");
        String[] words = line.strip().split("\\s+");
        if (words.length < 4 || words.length > 5) throw new UsageException(FORM);
        if (words.length == 5 && !words[4].equals("GET")) {
            throw new UsageException("after the priority comes GET or nothing, not '" + TextFile.shown(words[4]) + "'");
        }
        return new Endpoint(words[0], url(words[1]), interval(words[2]), priority(words[3]), words.length == 5);
    }

    private static URI url(String word) throws UsageException {
        try {
            URI url = new URI(word);
            boolean isHttp = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (isHttp && url.getHost() != null) return checked(url);
        } catch (URISyntaxException malformed) {
            // Thrown below.
        }
        throw new UsageException(
                "a URL begins with http:// or https:// and a host, not '" + TextFile.shown(word) + "'");
    }

    private static URI checked(URI url) throws UsageException {
        if (url.getPort() == 0 || url.getPort() > MAX_PORT) {
            throw new UsageException("a port is from 1 to " + MAX_PORT + ", not " + url.getPort());
        }
        // The client would not send them.
        if (url.getRawUserInfo() != null) throw new UsageException("a URL has no user and no password");
        return url;
    }

    private static Duration interval(String word) throws UsageException {
        Duration interval = CommandOptions.timeOf(word);
        if (interval != null) return interval;
        throw new UsageException("an interval is like 60s, 5m or 1h, not '" + TextFile.shown(word) + "'");
    }

    private static Priority priority(String word) throws UsageException {
        for (Priority priority : Priority.values()) {
            if (priority.name().equals(word)) return priority;
        }
        String all = Arrays.stream(Priority.values()).map(Priority::name).collect(Collectors.joining(", "));
        throw new UsageException("a priority is one of " + all + ", not '" + TextFile.shown(word) + "'");
    }
}
