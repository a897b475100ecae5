package samples.support;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/**
 * The command line options of the rate-limited client.
 *
 * @param items the file with the items, null for the thousand that come with the sample.
 * @param limit the permits of the semaphore.
 * @param serverLimit the number of requests in flight that the server accepts.
 * @param failAfter the number of responses after which the server dies.
 */
public record Options(Path items, int limit, int serverLimit, int failAfter) {
    public static final String HELP = """
            Fetches every item of a list from a server that answers 429 when too many requests are in flight:
            first with a semaphore and, if that fetched all, then without. The server runs in this program, on a free loopback port.

            Options:
              --items FILE       the items, one path a line (default: 1000 items that come with the sample)
              --limit N          permits of the semaphore (default: 5)
              --server-limit N   requests in flight that the server accepts (default: 5)
              --fail-after N     the server dies after N answers (default: never)
              --help             this text

            Exit code: 0 if with the semaphore every item was fetched, 1 if not, 2 for wrong usage.""";

    private static final int LIMIT = 5;

    static Options parse(String[] args) throws UsageException {
        Path items = null;
        int limit = LIMIT;
        int serverLimit = LIMIT;
        int failAfter = Integer.MAX_VALUE;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--items" -> items = Values.path(option, words);
                case "--limit" -> limit = Values.count(option, words);
                case "--server-limit" -> serverLimit = Values.count(option, words);
                case "--fail-after" -> failAfter = Values.count(option, words);
                default -> throw Values.unknown(option);
            }
        }
        return new Options(items, limit, serverLimit, failAfter);
    }
}
