package samples.support;

import java.util.Iterator;
import java.util.List;

/**
 * The command line options of the import.
 *
 * @param records the number of records.
 * @param limit the weight in flight at a time.
 * @param attempts the maximum number of attempts for a record.
 */
public record ImportOptions(int records, int limit, int attempts) {
    public static final String HELP = """
            Sends records to a server that refuses requests with 429 and a Retry-After, resets connections and is out
            for a second in the middle. Every tenth record is large and weighs five times as much as the others.
            First all records at once, each once; then in chunks, a bounded weight at a time, below a bound of the heap,
            each until it has arrived. The server runs in this program, on a free loopback port.

            Options:
              --records N        how many records (default: 5000)
              --limit N          the weight in flight at a time, 5 to 40 (default: 32; above 40 the server refuses)
              --attempts N       attempts for a record before the import gives up (default: 10)
              --help             this text

            Exit code: 0 if with Baton every record has arrived exactly once, 1 if not, 2 for wrong usage.""";

    private static final int MAX_RECORDS = 100_000;
    private static final int MAX_ATTEMPTS = 100;

    static ImportOptions parse(String[] args) throws UsageException {
        int records = 5000;
        int limit = 32;
        int attempts = 10;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--records" -> records = Values.count(option, words, 1, MAX_RECORDS);
                case "--limit" -> limit = Values.count(option, words, ImportRecord.MAX_WEIGHT, ImportServer.CAPACITY);
                case "--attempts" -> attempts = Values.count(option, words, 1, MAX_ATTEMPTS);
                default -> throw Values.unknown(option);
            }
        }
        return new ImportOptions(records, limit, attempts);
    }
}
