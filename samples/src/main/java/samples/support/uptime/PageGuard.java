package samples.support.uptime;

import com.sun.net.httpserver.Headers;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import samples.support.TextFile;

/**
 * Refuses requests that a page of another site sends through the user's browser. Such a page may have a name that leads
 * to this computer (DNS rebinding); then the Host is foreign. Or it posts to this server by its real name; then the
 * Origin is foreign, or at least the Sec-Fetch-Site, which browsers send with every request.
 */
final class PageGuard {
    private static final int HTTP_PORT = 80;
    private static final Set<String> OWN_SITES = Set.of("same-origin", "none");

    private final Set<String> hosts;

    /** The guard of a server on the loopback port {@code port}. */
    PageGuard(int port) {
        hosts = Stream.of("127.0.0.1", "localhost", "[::1]")
                .flatMap(name -> port == HTTP_PORT ? Stream.of(name, name + ":" + port) : Stream.of(name + ":" + port))
                .collect(Collectors.toSet());
    }

    /** Why a request with these headers is refused; empty if it is not. */
    Optional<String> refusal(Headers headers) {
        List<String> host = headers.getOrDefault("Host", List.of());
        if (host.size() != 1 || !hosts.contains(host.get(0).toLowerCase(Locale.ROOT))) {
            return Optional.of("the Host is " + shown(host) + ", not this server");
        }
        List<String> origins = headers.getOrDefault("Origin", List.of());
        for (String origin : origins) {
            String lower = origin.toLowerCase(Locale.ROOT);
            if (!lower.startsWith("http://") || !hosts.contains(lower.substring("http://".length()))) {
                return Optional.of("the Origin is " + shown(origins) + ", not this server");
            }
        }
        // Links, images and forms of old browsers have no Origin. The value "none" means a request by the user,
        // "same-site" one by a page of another port of this computer.
        List<String> sites = headers.getOrDefault("Sec-Fetch-Site", List.of());
        if (!OWN_SITES.containsAll(sites))
            return Optional.of("the Sec-Fetch-Site is " + shown(sites) + ", not this server");
        return Optional.empty();
    }

    private static String shown(List<String> values) {
        return values.isEmpty() ? "missing" : "'" + TextFile.shown(String.join(", ", values)) + "'";
    }
}
