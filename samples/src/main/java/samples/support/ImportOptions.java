package samples.support;

import baton.batch.ConcurrencyConfig;
import java.time.Duration;
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
    private static final int MAX_RECORDS = 100_000;

    private static final String PREFIX = "import.";

    /** The batch that waits for its slowest record, with a Retry-After of a second or more, has so much to go on with. */
    private static final String BATCH = "500";

    static CommandOptions command() {
        return new CommandOptions("""
                First part: sends records to a server that refuses requests with 429 and a Retry-After, resets connections
                and is out for a second in the middle. Every tenth record is large and weighs five times as much as the
                others. First all records at once, each once; then in batches, a bounded number and weight at a time, below a
                bound of the heap, each until it has arrived; the sum accounts for every record.
                Second part: sends records to a server with a quota of 200 requests a second, which is out for two seconds
                in the middle. First with retries alone; then with a rate limiter and a circuit breaker inside them.
                The servers run in this program, on free loopback ports.
                """, """
                System properties, for the batch of the first part:
                  -Dimport.maxConcurrentTasks=N     the records that are sent or wait for a retry (default: 64)
                  -Dimport.batchSize=N              the answers that are saved together (default: 500)
                  -Dimport.retry.maxAttempts=N      instead of --attempts; also baseDelayMs, maxDelayMs and jitterFactor
                  -Dimport.memory.maxHeapUsageMB=N  the heap above which one record at a time is sent (default: 512)

                Exit code: 0 if with Baton every record has arrived exactly once, and with the limiter no call was refused
                with 429 and no more calls went into the outage than the breaker admits; 1 if not, 2 for wrong usage.""")
                .count("--part", 1, 2, "only the first part, 1, or only the second one, 2 (default: both)")
                .count("--records", 1, MAX_RECORDS, "how many records in the first part (default: 5000)")
                .count(
                        "--limit",
                        ImportRecord.MAX_WEIGHT,
                        CountedFaults.CAPACITY,
                        "the weight in flight at a time there, 5 to 40 (default: 32; above 40 the server refuses)")
                .count(
                        "--max-failures",
                        1,
                        MAX_RECORDS,
                        "failed records after which no other is sent there (default: 100)")
                .count("--quota-records", 1, MAX_RECORDS, "how many records in the second part (default: 300)")
                .count("--outage", 1, 60_000, "how many milliseconds the server is out there (default: 2000)")
                .count("--attempts", 1, 100, "attempts for a record before it is given up (default: 10)");
    }

    static ImportOptions of(CommandOptions given) throws UsageException {
        int attempts = given.value("--attempts", 10);
        return new ImportOptions(
                given.value("--part", 0),
                given.value("--records", 5000),
                given.value("--limit", 32),
                config(attempts),
                given.value("--max-failures", 100),
                attempts,
                given.value("--quota-records", 300),
                Duration.ofMillis(given.value("--outage", 2000)));
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
