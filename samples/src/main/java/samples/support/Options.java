package samples.support;

import java.nio.file.Path;

/**
 * The command line options of the rate-limited client.
 *
 * @param items the file with the items, null for the thousand that come with the sample.
 * @param limit the permits of the semaphore.
 * @param serverLimit the number of requests in flight that the server accepts.
 * @param failAfter the number of responses after which the server dies.
 */
public record Options(Path items, int limit, int serverLimit, int failAfter) {
    private static final int LIMIT = 5;

    static CommandOptions command() {
        return new CommandOptions(
                        """
                Fetches every item of a list from a server that answers 429 when too many requests are in flight:
                first with a semaphore and, if that fetched all, then without. The server runs in this program, on a free loopback port.
                """, "Exit code: 0 if with the semaphore every item was fetched, 1 if not, 2 for wrong usage.")
                .path("--items", "the items, one path a line (default: 1000 items that come with the sample)")
                .count("--limit", 1, Integer.MAX_VALUE, "permits of the semaphore (default: 5)")
                .count(
                        "--server-limit",
                        1,
                        Integer.MAX_VALUE,
                        "requests in flight that the server accepts (default: 5)")
                .count("--fail-after", 1, Integer.MAX_VALUE, "the server dies after N answers (default: never)");
    }

    static Options of(CommandOptions given) {
        return new Options(
                given.value("--items", null),
                given.value("--limit", LIMIT),
                given.value("--server-limit", LIMIT),
                given.value("--fail-after", Integer.MAX_VALUE));
    }
}
