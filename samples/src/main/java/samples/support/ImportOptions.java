package samples.support;

import baton.batch.ConcurrencyConfig;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Properties;

/**
 * The command line options of the import.
 *
 * @param part the only part to run, or 0 for both.
 * @param records the number of records of the first part.
 * @param limit the weight in flight at a time in the first part.
 * @param config the numbers of the batch in the first part.
 * @param maxFailures the number of failed records there after which no other is sent.
 * @param attempts the maximum number of attempts for a record in the second part.
 * @param quotaRecords the number of records of the second part.
 * @param outage how long the server is out in the second part.
 */
public record ImportOptions(
        int part,
        int records,
        int limit,
        ConcurrencyConfig config,
        int maxFailures,
        int attempts,
        int quotaRecords,
        Duration outage) {
    public static final String HELP = """
            First part: sends records to a server that refuses requests with 429 and a Retry-After, resets connections
            and is out for a second in the middle. Every tenth record is large and weighs five times as much as the
            others. First all records at once, each once; then in batches, a bounded number and weight at a time, below a
            bound of the heap, each until it has arrived; the sum accounts for every record.
            Second part: sends records to a server with a quota of 200 requests a second, which is out for two seconds
            in the middle. First with retries alone; then with a rate limiter and a circuit breaker inside them.
            The servers run in this program, on free loopback ports.

            Options:
              --part N           only the first part, 1, or only the second one, 2 (default: both)
              --records N        how many records in the first part (default: 5000)
              --limit N          the weight in flight at a time there, 5 to 40 (default: 32; above 40 the server refuses)
              --max-failures N   failed records after which no other is sent there (default: 100)
              --quota-records N  how many records in the second part (default: 300)
              --outage N         how many milliseconds the server is out there (default: 2000)
              --attempts N       attempts for a record before it is given up (default: 10)
              --help             this text

            System properties, for the batch of the first part:
              -Dimport.maxConcurrentTasks=N     the records that are sent or wait for a retry (default: 64)
              -Dimport.batchSize=N              the answers that are saved together (default: 500)
              -Dimport.retry.maxAttempts=N      instead of --attempts; also baseDelayMs, maxDelayMs and jitterFactor
              -Dimport.memory.maxHeapUsageMB=N  the heap above which one record at a time is sent (default: 512)

            Exit code: 0 if with Baton every record has arrived exactly once, and with the limiter no call was refused
            with 429 and no more calls went into the outage than the breaker admits; 1 if not, 2 for wrong usage.""";

    private static final int PARTS = 2;
    private static final int MAX_RECORDS = 100_000;
    private static final int MAX_OUTAGE = 60_000;
    private static final int MAX_ATTEMPTS = 100;

    private static final String PREFIX = "import.";

    /** The batch that waits for its slowest record, with a Retry-After of a second or more, has so much to go on with. */
    private static final String BATCH = "500";

    static ImportOptions parse(String[] args) throws UsageException {
        int part = 0;
        int records = 5000;
        int limit = 32;
        int maxFailures = 100;
        int attempts = 10;
        int quotaRecords = 300;
        int outage = 2000;
        Iterator<String> words = List.of(args).iterator();
        while (words.hasNext()) {
            String option = words.next();
            switch (option) {
                case "--part" -> part = Values.count(option, words, 1, PARTS);
                case "--records" -> records = Values.count(option, words, 1, MAX_RECORDS);
                case "--limit" -> limit = Values.count(option, words, ImportRecord.MAX_WEIGHT, CountedFaults.CAPACITY);
                case "--max-failures" -> maxFailures = Values.count(option, words, 1, MAX_RECORDS);
                case "--attempts" -> attempts = Values.count(option, words, 1, MAX_ATTEMPTS);
                case "--quota-records" -> quotaRecords = Values.count(option, words, 1, MAX_RECORDS);
                case "--outage" -> outage = Values.count(option, words, 1, MAX_OUTAGE);
                default -> throw Values.unknown(option);
            }
        }
        return new ImportOptions(
                part, records, limit, config(attempts), maxFailures, attempts, quotaRecords, Duration.ofMillis(outage));
    }

    /** The system properties, and the defaults of this sample where there is none. */
    private static ConcurrencyConfig config(int attempts) throws UsageException {
        Properties defaults = new Properties();
        defaults.setProperty(PREFIX + "maxConcurrentTasks", "64");
        defaults.setProperty(PREFIX + "batchSize", BATCH);
        defaults.setProperty(PREFIX + "retry.maxAttempts", Integer.toString(attempts));
        // The waits of ten attempts are together longer than the outage, whatever the random numbers.
        defaults.setProperty(PREFIX + "retry.baseDelayMs", "100");
        defaults.setProperty(PREFIX + "retry.maxDelayMs", "1000");
        Properties properties = new Properties(defaults);
        properties.putAll(System.getProperties());
        try {
            return ConcurrencyConfig.from(properties, PREFIX);
        } catch (IllegalArgumentException wrong) {
            throw new UsageException(wrong.getMessage());
        }
    }

    /** Whether the first part is to run. */
    boolean hasFirst() {
        return part != 2;
    }

    /** Whether the second part is to run. */
    boolean hasSecond() {
        return part != 1;
    }
}
